/* Regions: the page as the server shows it now, put in place of what stood there. */
/** Replaces an element; the focus stays where it was, or goes to where the change is told. */
function swap(old, next) {
  const active = old.contains(document.activeElement) ? document.activeElement : null;
  const range = active && "selectionStart" in active ? [active.selectionStart, active.selectionEnd] : null;
  const top = active?.scrollTop ?? 0;
  const about = active?.form?.dataset.of;
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
    const same = again && fresh.contains(again) && again.form?.dataset.of === about;
    const target = same ? again : fresh.querySelector("[data-status]") ?? fresh.querySelector("a, button");
    target?.focus({ preventScroll: true });
    if (range && target === again && range[0] !== null && "setSelectionRange" in target) {
      try { target.setSelectionRange(...range); } catch { /* not a field of text */ }
      target.scrollTop = top;
    }
  }
  return fresh;
}

let taken = null; // a list that one asked to see as it is now, whatever moves by that
const SETTLING = 10e3; // ms that a row stays where it was when it was settled elsewhere
let settling;
let beyond = null; // the row that came after one that was decided here: keys go on from it
const pointed = (list) => list.matches(":hover, :focus-within");
const calm = (list) => !pointed(list) && !document.activeElement?.matches("textarea, input, select");
/** Whether a row that is no longer of a list leaves it: at once by one's own act, else when it moves nobody's aim. */
function leaves(row, list, why) {
  if (why === "sent" || ("over" in row.dataset && calm(list))) return true;
  if ("over" in row.dataset) later();
  return false;
}
/** A row that stays for now, and says what has become of it. */
function lingers(row) {
  row.dataset.over = "";
  later();
}
function later() {
  clearTimeout(settling);
  settling = setTimeout(refresh, SETTLING);
}
const REGIONS = {
  whole(old, next) {
    if (old.dataset.version !== next.dataset.version) swap(old, next);
  },
  card(old, next, why) {
    if (!why && old.dataset.of === next.dataset.of && old.dataset.version === next.dataset.version) return;
    const other = old.dataset.of !== next.dataset.of;
    if (other && !why) return; // what is open stays open until one opens something else
    if (!why && old.querySelector("form[aria-busy]")) return; // the answer to what is being sent comes itself
    const fresh = swap(old, next);
    bringBack(fresh);
    const kept = (card) => card.querySelector(".kept:not([hidden])");
    if (!kept(old) && document.activeElement?.matches("[data-status]")) kept(fresh)?.scrollIntoView({ block: "nearest" });
    watch(fresh);
  },
  rows(list, next, why) {
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
      const stays = again ? again.parentElement.id === list.id : next.hasAttribute("data-more") && row.dataset.at >= last;
      if (!stays && leaves(row, list, why)) {
        if (why === "sent") beyond = row.nextElementSibling ?? row.previousElementSibling;
        row.remove();
      } else if (again && again.dataset.version !== row.dataset.version) {
        const { height } = row.getBoundingClientRect();
        const fresh = swap(row, again.cloneNode(true));
        fresh.classList.add("here");
        fresh.style.height = `${height}px`; // so that those below stay where they are
        if (!stays) lingers(fresh);
      } else if (!again && !stays) left(row, list.dataset.left);
    }
    const fresh = wanted.filter((row) => !at(row.id));
    if (!fresh.length) return bar(list, []);
    const stay = wanted.findLastIndex((row) => list.contains(at(row.id)));
    // Where the newest come first, a page of nothing but new ones goes before what is here.
    const after = (stay >= 0 || !list.hasAttribute("data-newest")) && fresh.every((row) => wanted.indexOf(row) > stay);
    if (!list.children.length || after) put(list, fresh, known);
    else if (list.dataset.new !== "bar") (why === "sent" || !pointed(list)) && put(list, wanted.filter((row) => fresh.includes(row) || list.contains(at(row.id))).map((row) => (fresh.includes(row) ? row : at(row.id))));
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
  lingers(row);
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

/** Puts a page's regions in place. `why`: "sent" or "opened" by who looks at it, or '' when something happened. */
function apply(page, why = "") {
  if (why) beyond = null;
  for (const old of document.querySelectorAll("[data-live]")) {
    const next = page.getElementById(old.id);
    if (next) REGIONS[old.dataset.live](old, next, why);
  }
  setClock(page.body.dataset.now);
  document.title = page.title;
  if (why) {
    const main = page.getElementById("main");
    if (main) at("main").className = main.className;
    for (const link of document.querySelectorAll("a[data-pane]")) {
      const open = link.classList.contains("card") && link.pathname === location.pathname;
      open ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current");
    }
  }
  tellTime(document);
}
