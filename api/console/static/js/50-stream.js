/* The stream of events. `last` is where to go on from, so that a break loses nothing. */
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
  state("ended", "Signed out.", [location.pathname + location.search, "Sign in"]); // and then back to this page
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
