/* What pages do beyond links and forms: they stay up to date, keep what one types, and listen to keys.
 *
 * Nothing here decides or foretells: each change on the page is a piece of a page that the server sent. Without this
 * file everything still works, one page at a time. No inline code, no eval: the policy of our pages allows neither.
 *
 * Regions. An element with an id and `data-live` is kept as the server last showed it. When something happens whose kind
 * (or a place or author of it) stands in the body's `data-on`, the page is fetched anew and each region compared by its `data-version`:
 *   whole  it is replaced
 *   rows   a list: rows change in place, those that the page has elsewhere stay as that, new ones come without moving
 *          others; what is nowhere any more is said in the words of `data-left`, or goes where there are none.
 *          `data-newest`: it begins with the newest
 *   card   the one thing that is open: replaced with what was typed, the focus, and all that is marked `data-fixed`
 */
"use strict";

(() => {
  const body = document.body;
  const at = (id) => document.getElementById(id);
  const parsed = (html) => new DOMParser().parseFromString(html, "text/html");
  /** Waits, until an event of the window comes earlier. */
  const pause = (ms, early = "online") => {
    const heard = new AbortController();
    return new Promise((done) => {
      setTimeout(done, ms);
      addEventListener(early, done, { signal: heard.signal });
    }).finally(() => heard.abort());
  };

  // ---- Time: by the space's clock, which the page was given, and in the reader's own zone.

  let ahead = 0; // of the space's clock before this machine's, in ms
  const now = () => Date.now() + ahead;
  const setClock = (iso) => {
    if (iso) ahead = Date.parse(iso) - Date.now();
  };
  const UNITS = [[60e3, 1e3, "s"], [3600e3, 60e3, "min"], [48 * 3600e3, 3600e3, "h"], [Infinity, 24 * 3600e3, "d"]];
  const unit = (ms) => UNITS.find(([below]) => ms < below);
  const rounded = (ms) => `${Math.floor(ms / unit(ms)[1])} ${unit(ms)[2]}`;
  const WORDS = {
    // The same words as the server's (inert.left, inert.ago).
    left: (ms) => (ms > 0 ? `${rounded(Math.max(ms + unit(ms)[1] / 2, 5e3))} left` : "over"),
    ago: (ms) => (-ms < 5e3 ? "just now" : `${rounded(-ms)} ago`),
  };
  const SOON = 3600e3; // ms before a deadline from which it strikes the eye
  const day = (ms) => new Date(ms).toDateString();
  const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", timeZoneName: "short" });
  const date = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
  const local = (ms) => `${day(ms) === day(now()) ? "today" : date.format(ms)}, ${clock.format(ms)}`;

  let passed = 0; // deadlines that are over on this page
  function tellTime(root) {
    for (const time of root.querySelectorAll("time[data-local]")) {
      if (!time.title) time.title = time.textContent;
      time.textContent = local(Date.parse(time.dateTime));
    }
    for (const time of root.querySelectorAll("time[data-rel]")) {
      const ms = Date.parse(time.dateTime) - now();
      const said = WORDS[time.dataset.rel](ms);
      if (time.textContent !== said) time.textContent = said;
      time.toggleAttribute("data-soon", time.dataset.rel === "left" && ms < SOON);
    }
  }
  function tick() {
    tellTime(document);
    const over = [...document.querySelectorAll('time[data-rel="left"]')].filter((t) => Date.parse(t.dateTime) < now());
    if (over.length > passed) refresh(); // what time alone has brought, the server says
    passed = over.length;
  }

  // ---- Drafts: what is typed is kept for this tab until it is sent, wherever one looks meanwhile.

  const TYPED = "textarea:not([readonly]), input[type=text]";
  const field = (el) => el.matches?.(`${TYPED}, input[type=radio]`) && el.form?.hasAttribute("data-send");
  // A field may be called `action` and then stands before the form's own property of that name.
  const address = (form) => new URL(form.getAttribute("action"), location.href);
  const slot = (form, name) => `draft ${address(form).pathname} ${name}`;
  const store = {
    get: (key) => { try { return sessionStorage.getItem(key); } catch { return null; } },
    set: (key, value) => { try { value ? sessionStorage.setItem(key, value) : sessionStorage.removeItem(key); } catch { /* not kept, then */ } },
    keys: () => { try { return Object.keys(sessionStorage).filter((k) => k.startsWith("draft ")); } catch { return []; } },
  };
  function keepDraft(el) {
    if (field(el)) store.set(slot(el.form, el.name), el.value);
  }
  function forget(form) {
    for (const el of form.elements) {
      if (!field(el)) continue;
      store.set(slot(form, el.name), "");
      if (el.type !== "radio") el.value = "";
    }
  }
  /** Puts drafts back into the fields of a card; where their form is gone, shows them to be copied. */
  function bringBack(card) {
    const fields = [...card.querySelectorAll("form[data-send] :is(textarea, input[type=text], input[type=radio])")];
    for (const el of fields) {
      const draft = store.get(slot(el.form, el.name));
      if (!draft) continue;
      if (el.type === "radio") el.checked = el.value === draft;
      else if (!el.value) el.value = draft;
      const fold = el.closest("details");
      if (fold) fold.open = true;
    }
    const kept = card.querySelector(".kept");
    if (!kept || !card.dataset.of) return;
    const here = new Set(fields.map((el) => slot(el.form, el.name)));
    const lost = store.keys().filter((key) => key.includes(`/${card.dataset.of}/`) && !key.endsWith(" option") && !here.has(key));
    const area = kept.querySelector("textarea");
    const words = [area.value, ...lost.map(store.get)].filter(Boolean);
    area.value = [...new Set(words)].join("\n\n");
    kept.hidden = !area.value;
  }

  // ---- Regions: the page as the server shows it now, put in place of what stood there.

  /** Replaces an element; the focus stays where it was, or goes to where the change is told. */
  function swap(old, next) {
    const active = old.contains(document.activeElement) ? document.activeElement : null;
    const range = active && "selectionStart" in active ? [active.selectionStart, active.selectionEnd] : null;
    const top = active?.scrollTop ?? 0;
    const fresh = document.adoptNode(next);
    for (const fixed of old.querySelectorAll("[data-fixed]")) {
      const place = fresh.querySelector(`[data-fixed="${CSS.escape(fixed.dataset.fixed)}"]`);
      if (place) place.replaceWith(fixed);
    }
    for (const fold of old.dataset.of === fresh.dataset.of ? old.querySelectorAll("details[id][open]") : []) {
      const again = fresh.querySelector(`#${CSS.escape(fold.id)}`);
      if (again) again.open = true;
    }
    const inputs = (root) => [...root.querySelectorAll(`form[data-send] :is(${TYPED})`)];
    const typed = inputs(old).map((el) => [slot(el.form, el.name), el.value]);
    const chosen = [...old.querySelectorAll("form[data-send] :is(select, input[type=checkbox])")];
    old.replaceWith(fresh);
    tellTime(fresh);
    for (const el of inputs(fresh)) {
      const same = typed.find(([key]) => key === slot(el.form, el.name));
      if (same && !el.value) el.value = same[1];
    }
    for (const el of chosen) {
      const again = el.id && at(el.id);
      if (again && fresh.contains(again)) el.type === "checkbox" ? (again.checked = el.checked) : (again.value = el.value);
    }
    if (active) {
      const again = active.id ? at(active.id) : null;
      const target = again && fresh.contains(again) ? again : fresh.querySelector("[data-status]") ?? fresh.querySelector("a, button");
      target?.focus({ preventScroll: true });
      if (range && target === again && range[0] !== null && "setSelectionRange" in target) {
        try { target.setSelectionRange(...range); } catch { /* not a field of text */ }
        target.scrollTop = top;
      }
    }
    return fresh;
  }

  let taken = null; // a list that one asked to see as it is now, whatever moves by that
  const REGIONS = {
    whole(old, next) {
      if (old.dataset.version !== next.dataset.version) swap(old, next);
    },
    card(old, next, forced) {
      if (!forced && old.dataset.of === next.dataset.of && old.dataset.version === next.dataset.version) return;
      const other = old.dataset.of !== next.dataset.of;
      if (other && !forced) return; // what is open stays open until one opens something else
      if (!forced && old.querySelector("form[aria-busy]")) return; // the answer to what is being sent comes itself
      const fresh = swap(old, next);
      bringBack(fresh);
      watch(fresh);
    },
    rows(list, next) {
      const page = next.ownerDocument;
      const wanted = [...next.children];
      const known = new Set([...list.children].map((row) => row.id));
      if (list === taken) {
        taken = null;
        list.replaceChildren();
      }
      const last = wanted.at(-1)?.dataset.at ?? "";
      for (const row of [...list.children]) {
        const again = page.getElementById(row.id);
        if (again) {
          if (again.dataset.version === row.dataset.version) continue;
          const { height } = row.getBoundingClientRect();
          const fresh = swap(row, again.cloneNode(true));
          fresh.classList.add("here");
          fresh.style.height = `${height}px`; // so that those below stay where they are
        } else if (!(next.hasAttribute("data-more") && row.dataset.at >= last)) {
          left(row, list.dataset.left);
        }
      }
      const fresh = wanted.filter((row) => !at(row.id));
      if (!fresh.length) return bar(list, []);
      const stay = wanted.findLastIndex((row) => list.contains(at(row.id)));
      // Where the newest come first, a page of nothing but new ones goes before what is here.
      const after = (stay >= 0 || !list.hasAttribute("data-newest")) && fresh.every((row) => wanted.indexOf(row) > stay);
      const calm = !list.matches(":hover, :focus-within");
      if (!list.children.length || after) put(list, fresh, known);
      else if (list.dataset.new !== "bar") calm && put(list, wanted.filter((row) => fresh.includes(row) || list.contains(at(row.id))).map((row) => (fresh.includes(row) ? row : at(row.id))));
      else bar(list, fresh);
    },
  };

  function put(list, rows, known) {
    for (const row of rows) {
      const own = row.ownerDocument === document ? row : document.adoptNode(row.cloneNode(true));
      if (known && !known.has(own.id)) own.classList.toggle("new", "new" in list.dataset);
      list.append(own);
      tellTime(own);
    }
    if (list.dataset.new) bar(list, []);
  }
  /** A row that the server shows nowhere any more. Its page says why. */
  function left(row, words) {
    const end = row.querySelector(".end");
    if (row.classList.contains("past")) return;
    if (!words || !end) return row.remove();
    row.className = "row past";
    row.querySelector("form")?.remove();
    end.textContent = words;
  }
  /** New rows that would move others are counted above the list, and come when one asks for them. */
  function bar(list, fresh) {
    const news = at("news");
    if (!news || !list.dataset.new) return;
    if (!fresh.length) return news.replaceChildren();
    const button = news.querySelector("button") ?? document.createElement("button");
    button.type = "button";
    button.id = "show-new";
    const page = fresh[0].parentElement; // of which there may be more, and all of it is new
    const most = page.hasAttribute("data-more") && fresh.length === page.children.length ? "more than " : "";
    button.textContent = `${most}${fresh.length} new – show ${fresh.length === 1 ? "it" : "them"}`;
    button.onclick = () => {
      taken = list;
      refresh({ then: () => at(`open-${fresh[0].id.slice(4)}`)?.focus() });
    };
    if (!button.isConnected) news.append(button);
  }

  function apply(page, forced = false) {
    for (const old of document.querySelectorAll("[data-live]")) {
      const next = page.getElementById(old.id);
      if (next) REGIONS[old.dataset.live](old, next, forced);
    }
    setClock(page.body.dataset.now);
    document.title = page.title;
    if (forced) {
      const main = page.getElementById("main");
      if (main) at("main").className = main.className;
      for (const link of document.querySelectorAll("a[data-pane]")) {
        const open = link.classList.contains("card") && link.pathname === location.pathname;
        open ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current");
      }
    }
    tellTime(document);
  }

  // ---- Fetching the page anew. One at a time, and not more often than once a second however much happens.

  const APART = 1000; // ms between two
  let running = false;
  let again = null;
  let missed = false; // something happened that could not be fetched
  async function refresh(how = {}) {
    if (!body.dataset.space) return;
    if (running) {
      again = { ...again, ...how };
      return;
    }
    running = true;
    const from = location.href;
    try {
      const reply = await fetch(from, { headers: { Accept: "text/html" }, cache: "no-store" });
      const page = parsed(await reply.text());
      missed = !reply.ok;
      if (reply.status === 401) ended();
      else if (reply.ok && from === location.href) {
        apply(page);
        how.then?.();
      }
    } catch {
      missed = true; // the stream notices too, and comes back here once there is a server again
    }
    await pause(APART, "pointerdown");
    running = false;
    if (again) {
      const next = again;
      again = null;
      refresh(next);
    }
  }

  /** Opens what a link leads to in its pane, with the list left as it is. */
  async function open(url, push) {
    let reply;
    try {
      reply = await fetch(url, { headers: { Accept: "text/html" }, cache: "no-store" });
      const page = parsed(await reply.text());
      if (!reply.ok || !page.getElementById("card")) throw new Error("no pane");
      if (push) history.pushState({}, "", reply.url);
      apply(page, true);
      scrollTo(0, 0);
      at("what")?.focus({ preventScroll: true });
    } catch {
      location.assign(url); // the browser says what is wrong
    }
  }

  /** Sends a form and shows the page that comes back: it says what the store said. */
  async function send(form, button) {
    if (form.getAttribute("aria-busy") === "true") return;
    form.setAttribute("aria-busy", "true");
    const card = form.closest("[data-live]") ?? form;
    try {
      const reply = await fetch(address(form), {
        method: "POST",
        body: new URLSearchParams(new FormData(form, button)),
        headers: { Accept: "text/html" },
      });
      const page = parsed(await reply.text());
      if (reply.status === 401) return location.reload(); // says how to come in again; what was typed is kept
      if (!page.getElementById("card")) return tell(card, page.getElementById("problem")?.textContent ?? "The server did not understand this.");
      if (reply.ok) forget(form);
      const to = new URL(reply.redirected ? reply.url : location.href);
      if (to.href !== location.href) history.pushState({}, "", to);
      apply(page, true);
      if (at("refusal")) at("refusal").focus();
      else if (!at("card").contains(document.activeElement)) at("card").querySelector("[data-status]")?.focus({ preventScroll: true });
    } catch {
      tell(card, "The server did not answer, so it is not known whether this was done. The page will say once it is back. Sending again does nothing twice.");
    } finally {
      form.removeAttribute("aria-busy");
    }
  }
  function tell(card, text) {
    const alert = at("refusal") ?? document.createElement("div");
    alert.id = "refusal";
    alert.className = "alert";
    alert.role = "alert";
    alert.tabIndex = -1;
    alert.textContent = text;
    if (!alert.isConnected) card.prepend(alert);
    alert.focus();
  }

  // ---- The stream of events. `last` is where to go on from, so that a break loses nothing.

  const SILENCE = 40e3; // ms: the server says something each 15 s
  const OFFLINE = 5e3; // ms without a connection after which we say since when
  const LONGEST = 8e3; // ms between two tries
  let last = body.dataset.after ?? "";
  let broken = 0;
  let over = false;

  function state(name, words, link) {
    const live = at("live");
    if (!live || live.dataset.state === name) return;
    live.dataset.state = name;
    live.textContent = words;
    if (link) {
      const a = document.createElement("a");
      [a.href, a.textContent] = link;
      live.append(" ", a);
    }
  }
  function ended() {
    over = true;
    state("ended", "Signed out.", ["/", "Sign in"]);
  }
  function lost() {
    broken ||= Date.now();
    if (Date.now() - broken < OFFLINE) return state("reconnecting", "Reconnecting…");
    state("offline", `Offline since ${clock.format(broken)}: what is shown is as of then`);
  }

  async function listen() {
    const ids = body.dataset.on.split(" ");
    // Kinds of what changed, places and authors of what was written, or anything.
    const concerns = (event) =>
      ids.includes("*") ||
      event.refs?.some((ref) => ids.includes(ref.split(":")[0])) ||
      event.entries?.some((entry) => ids.includes(entry.where) || ids.includes(entry.by));
    let wait = 500;
    while (!over) {
      const stop = new AbortController();
      let silent;
      const hear = () => {
        clearTimeout(silent);
        silent = setTimeout(() => stop.abort(), SILENCE);
      };
      const hide = () => document.hidden && !body.hasAttribute("data-background") && stop.abort();
      document.addEventListener("visibilitychange", hide);
      try {
        hear();
        const reply = await fetch(`/api/events?space=${encodeURIComponent(body.dataset.space)}`, {
          headers: { Accept: "text/event-stream", "Last-Event-ID": last },
          cache: "no-store",
          signal: stop.signal,
        });
        if (reply.status === 401 || reply.status === 403) return ended();
        if (!reply.ok) throw new Error(String(reply.status));
        [wait, broken] = [500, 0];
        state("live", "Live");
        if (missed) refresh();
        for await (const event of events(reply, hear)) {
          if (event.id) last = event.id;
          if (event.kind === "gone" || (event.kind === "commit" && concerns(event.data))) refresh();
          if (event.kind === "end") return ended();
        }
      } catch { /* told below */ } finally {
        clearTimeout(silent);
        stop.abort();
        document.removeEventListener("visibilitychange", hide);
      }
      if (document.hidden && !body.hasAttribute("data-background")) {
        await new Promise((done) => document.addEventListener("visibilitychange", done, { once: true }));
        state("reconnecting", "Reconnecting…");
        continue;
      }
      lost();
      const told = setTimeout(lost, OFFLINE);
      await pause(wait + Math.random() * 250);
      clearTimeout(told);
      lost();
      wait = Math.min(wait * 1.6, LONGEST);
    }
  }

  /** The events of a stream; comments only show that it lives. */
  async function* events(reply, hear) {
    const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    let event = { kind: "message", id: "", data: null };
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      hear();
      const lines = (rest + value).split("\n");
      rest = lines.pop();
      for (const line of lines) {
        const [, name, text] = /^([a-z]*): ?(.*)$/.exec(line) ?? [];
        if (name === "event") event.kind = text;
        else if (name === "id") event.id = text;
        else if (name === "data") event.data = JSON.parse(text);
        else if (!line) {
          if (event.data) yield event;
          event = { kind: "message", id: "", data: null };
        }
      }
    }
  }

  // ---- Keys.

  const wide = matchMedia("(min-width: 64rem)");
  const seen = new Set(); // what of the open card has been in view
  const BAR = 56; // px at the top that the bar covers
  const eye = new IntersectionObserver((found) => found.forEach((f) => f.isIntersecting && seen.add(f.target)), { rootMargin: `-${BAR}px 0px 0px 0px` });
  function watch(card) {
    eye.disconnect();
    seen.clear();
    card?.querySelectorAll("[data-see]").forEach((part) => eye.observe(part));
  }
  // The observer reports a moment later; a key that is pressed before that must not take for unseen what is there.
  const onScreen = (part) => {
    const box = part.getBoundingClientRect();
    return box.bottom > BAR && box.top < innerHeight;
  };
  const inView = (el) => {
    const box = el.getBoundingClientRect();
    const top = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
    return box.top >= 0 && box.bottom <= innerHeight && el.contains(top);
  };

  function step(by) {
    const links = [...document.querySelectorAll(".rows a.card")].filter((a) => a.offsetParent);
    const here = links.indexOf(document.activeElement);
    const open = links.findIndex((a) => a.hasAttribute("aria-current"));
    const next = here >= 0 ? here + by : open >= 0 ? open + by : 0;
    links[Math.max(0, Math.min(next, links.length - 1))]?.focus();
  }
  /** Approves what is open; never what was not in view, and at high risk it only goes to the button. */
  function agree() {
    const card = at("card");
    const button = card?.querySelector('[data-key="a"]');
    if (!button || !card.offsetParent) return;
    const unseen = [...card.querySelectorAll("[data-see]")].find((part) => !seen.has(part) && !onScreen(part));
    if (unseen) return unseen.scrollIntoView({ block: "center" });
    const empty = [...button.form.elements].find((el) => el.willValidate && !el.checkValidity());
    if (empty) return empty.focus();
    if (card.dataset.risk === "high" || !inView(button)) return button.focus();
    button.form.requestSubmit(button);
  }
  function refuse() {
    const button = at("card")?.querySelector('[data-key="r"]');
    button?.form.querySelector("textarea")?.focus();
  }
  function back() {
    if (document.activeElement?.matches("textarea, input, select")) return document.activeElement.blur();
    if (at("menu")?.open) return (at("menu").open = false);
    const open = document.querySelector(".rows a[aria-current]");
    open?.offsetParent ? open.focus() : at("back")?.click();
  }
  const KEYS = { j: () => step(1), k: () => step(-1), a: agree, r: refuse, "?": () => at("shortcuts")?.showModal() };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat && event.key === "a") return;
    if (document.querySelector("dialog[open]")) return;
    if (event.key === "Escape") return back();
    if (body.dataset.keys !== "on" || event.target.closest("textarea, input, select")) return;
    const act = KEYS[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });

  // ---- What one clicks, types and sends.

  document.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    const menu = at("menu");
    if (menu?.open && !menu.contains(event.target)) menu.open = false;
    if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    if (link.dataset.opens && at(link.dataset.opens)) {
      event.preventDefault();
      menu.open = false;
      at(link.dataset.opens).showModal();
    } else if (link.hasAttribute("data-pane") && wide.matches) {
      event.preventDefault();
      open(link.href, true);
    }
  });
  document.addEventListener("input", (event) => keepDraft(event.target));

  // ---- What is shown once: it can be copied, and is gone from the page when one leaves it.

  for (const button of document.querySelectorAll("[data-copies]")) {
    button.hidden = false;
    button.onclick = async () => {
      const text = at(button.dataset.copies);
      getSelection().selectAllChildren(text);
      const copied = await (navigator.clipboard?.writeText(text.textContent).then(() => true, () => false) ?? document.execCommand("copy"));
      button.textContent = copied ? "Copied" : "Chosen: copy it";
    };
  }
  addEventListener("pagehide", () => document.querySelectorAll("[data-once]").forEach((el) => el.replaceChildren("gone")));

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.hasAttribute("data-send")) {
      event.preventDefault();
      send(form, event.submitter);
    } else if (address(form).pathname === "/sign-out") {
      store.keys().forEach((key) => store.set(key, ""));
    }
  });
  addEventListener("popstate", () => (at("card") ? open(location.href, false) : location.reload()));

  setClock(body.dataset.now);
  tellTime(document);
  document.querySelector(".tabs [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  if (at("card")) {
    bringBack(at("card"));
    watch(at("card"));
  }
  if (body.dataset.space) {
    listen();
    setInterval(tick, 5000);
    tick();
  }
})();
