/** Shows the chats as they change, and does what people do; everything goes through the control API. */

import { marked } from "./entities.js";

const KINDS = [
  "error", "html", "hang", "apply_then_hang", "apply_then_cut", "cut", "malformed", "duplicate", "reorder",
];
const $ = (id) => document.getElementById(id);
const state = { overview: null, chat: null, replyTo: null, shown: new Map(), since: 0, calls: 0 };

async function ask(method, path, body) {
  const answer = await fetch(`/_/${path}`, {
    method,
    headers: body ? { "Content-Type": "application/json" } : {},
    body: body ? JSON.stringify(body) : undefined,
  });
  const given = await answer.json();
  if (!answer.ok) throw new Error(given.error);
  return given;
}

function node(tag, text, className) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function say(text) {
  $("toast").textContent = text;
}

function act(form, work) {
  $(form).addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      await work(Object.fromEntries(new FormData(event.target)), event.target);
    } catch (wrong) {
      say(wrong.message);
    }
  });
}

function on(id, work) {
  $(id).addEventListener("click", () => work().catch((wrong) => say(wrong.message)));
}

const person = (id) => state.overview.people.find((one) => one.id === id);
const people = () => state.overview.people.filter((one) => one.id === state.chat.id || state.chat.members?.includes(one.id));

function places() {
  const groups = state.overview.chats.filter((chat) => chat.kind !== "private");
  return [...state.overview.people.map((one) => ({ id: one.id, title: one.name, kind: "private" })), ...groups];
}

function drawChats() {
  const rows = places().map((chat) => {
    const button = node("button", chat.title);
    const one = person(chat.id);
    const notes = [chat.kind, chat.bot_status, one?.blocked && "bot blocked", one?.deactivated && "account deleted"];
    button.append(node("small", [`${chat.id}`, ...notes.filter((note) => note && note !== "member")].join(" · ")));
    button.setAttribute("aria-current", String(chat.id === state.chat?.id));
    button.addEventListener("click", () => open(chat));
    const row = node("li");
    row.append(button);
    return row;
  });
  $("chats").replaceChildren(...rows);
}

async function open(chat) {
  state.chat = chat;
  state.shown = new Map();
  state.since = 0;
  reply(null);
  say("");
  $("messages").replaceChildren();
  await refresh();
}

function drawBar() {
  const chat = state.chat;
  const isPrivate = chat.kind === "private";
  $("chat").hidden = false;
  $("title").textContent = chat.title;
  $("start").hidden = $("block").hidden = !isPrivate;
  $("migrate").hidden = chat.kind !== "group" || Boolean(chat.migrated_to);
  $("kick").hidden = isPrivate || chat.bot_status === "kicked";
  if (isPrivate) $("block").textContent = person(chat.id).blocked ? "Unblock the bot" : "Block the bot";
  const select = $("composer").elements.person;
  const ids = people().map((one) => String(one.id));
  if (ids.join() !== [...select.options].map((option) => option.value).join()) {
    select.replaceChildren(...people().map((one) => new Option(one.name, one.id)));
  }
  $("who").hidden = isPrivate;
}

const actor = () => Number($("composer").elements.person.value || state.chat.id);

function drawMessage(view) {
  const { message } = view;
  const row = node("li", undefined, view.by_bot ? "bot" : "person");
  row.id = `m${message.message_id}`;
  const author = message.sender_chat?.title ?? message.from?.first_name ?? "";
  const at = new Date(message.date * 1000).toLocaleTimeString();
  const notes = [
    author, at, view.silent && "silent", view.edits && `edited ${view.edits}×`, view.deleted && "deleted",
    message.message_thread_id && `topic ${message.message_thread_id}`, message.forward_origin && "forwarded",
    view.special_markup?.force_reply && "asks for a reply",
  ];
  row.append(node("div", notes.filter(Boolean).join(" · "), "head"));
  if (message.reply_to_message) row.append(node("div", message.reply_to_message.text?.slice(0, 80), "quoted"));
  if (!view.deleted) {
    row.append(marked(message.text ?? service(message), message.entities ?? []));
    for (const buttons of message.reply_markup?.inline_keyboard ?? []) row.append(drawRow(message, buttons));
    const answer = node("button", "Reply");
    answer.addEventListener("click", () => reply(message));
    row.append(answer);
  }
  return row;
}

function service(message) {
  const told = ["migrate_to_chat_id", "migrate_from_chat_id"].find((key) => message[key]);
  return told ? `${told}: ${message[told]}` : "";
}

function drawRow(message, buttons) {
  const row = node("div", undefined, "row");
  for (const button of buttons) {
    const url = button.url ?? button.web_app?.url;
    const made = node(url ? "a" : "button", button.text, button.style);
    if (url) {
      if (/^(https?|tg):/.test(url)) made.href = url;
      made.target = "_blank";
      made.rel = "noreferrer";
    } else if (button.copy_text) {
      made.addEventListener("click", () => navigator.clipboard.writeText(button.copy_text.text));
    } else {
      made.addEventListener("click", () => tap(message, button).catch((wrong) => say(wrong.message)));
    }
    row.append(made);
  }
  return row;
}

async function tap(message, button) {
  say("…");
  const body = { chat_id: message.chat.id, message_id: message.message_id, data: button.callback_data };
  const press = await ask("POST", `people/${actor()}/press`, body);
  const { answer } = await ask("GET", `presses/${press.id}?wait=20`);
  if (answer?.alert) {
    $("alert").querySelector("p").textContent = answer.text;
    $("alert").showModal();
  }
  say(answer ? answer.text : "The bot did not answer.");
}

function reply(message) {
  state.replyTo = message;
  $("replying").hidden = !message;
  $("replying").querySelector("span").textContent = message ? `Replying to: ${(message.text ?? "").slice(0, 60)}` : "";
  if (message) $("composer").elements.text.focus();
}

async function drawMessages() {
  const id = state.chat.id;
  const news = await ask("GET", `chats/${id}/messages?since=${state.since}`);
  if (id !== state.chat.id) return;
  state.since = Math.max(state.since, news.version);
  const list = $("messages");
  const atEnd = list.scrollTop + list.clientHeight >= list.scrollHeight - 40;
  for (const view of news.messages) {
    const row = drawMessage(view);
    const old = $(row.id);
    if (old) old.replaceWith(row);
    else list.append(row);
  }
  if (atEnd && news.messages.length) list.scrollTop = list.scrollHeight;
}

function drawTrouble() {
  const { overview } = state;
  $("connect").textContent = `LOGMEM_TELEGRAM_API_URL=${location.origin}\nLOGMEM_BOT_TOKEN=${overview.token}`;
  $("violation-count").textContent = overview.violations;
  $("faults").replaceChildren(...overview.faults.map((fault) => {
    const left = fault.times === null ? "always" : `${fault.times} left`;
    return node("li", `${fault.kind} in ${fault.method}: ${left}, struck ${fault.hits}×`);
  }));
}

async function drawCalls() {
  const calls = await ask("GET", `calls?after=${state.calls}`);
  for (const call of calls) {
    state.calls = call.n;
    if (call.method === "getUpdates" && call.status === 200 && !call.result.length) continue;
    const said = call.error ?? (call.params.text ?? "").slice(0, 60);
    $("calls").prepend(node("li", `${call.method} ${call.status ?? "cut"} ${said}`, call.error ? "bad" : ""));
  }
  while ($("calls").children.length > 200) $("calls").lastChild.remove();
  const violations = await ask("GET", "violations");
  $("violations").replaceChildren(...violations.slice(-50).map((one) => node("li", `${one.method}: ${one.problem}`)));
}

async function refresh() {
  state.overview = await ask("GET", "state");
  drawTrouble();
  if (state.chat) {
    state.chat = places().find((chat) => chat.id === state.chat.id);
    drawBar();
    await drawMessages();
  }
  drawChats();
  await drawCalls();
  const waits = state.overview.pending.length;
  const bot = state.overview.polling ? "the bot polls" : state.overview.webhook.url ? "a webhook is set" : "no bot polls";
  $("health").textContent = `${bot}; ${waits} updates wait; time ${new Date(state.overview.now * 1000).toLocaleTimeString()}`;
  return state.overview.version;
}

async function follow() {
  for (;;) {
    try {
      const version = await refresh();
      await ask("GET", `wait?since=${version}&wait=25`);
    } catch (wrong) {
      $("health").textContent = `not connected: ${wrong.message}`;
      await new Promise((go) => { setTimeout(go, 1000); });
    }
  }
}

act("add-person", async ({ name }, form) => {
  const made = await ask("POST", "people", { name });
  form.reset();
  await open({ id: made.id, title: made.name, kind: "private" });
});
act("add-group", async ({ title, kind }, form) => {
  const made = await ask("POST", "chats", { title, kind, members: state.overview.people.map((one) => one.id) });
  form.reset();
  await open(made);
});
act("composer", async ({ text }, form) => {
  const body = { text, chat_id: state.chat.id, reply_to: state.replyTo?.message_id };
  await ask("POST", `people/${actor()}/say`, body);
  form.elements.text.value = "";
  reply(null);
});
act("add-fault", ({ kind, method, times, status, description, seconds }) => ask("POST", "faults", {
  kind, method, times: Number(times), status: Number(status), description, seconds: Number(seconds),
}));
act("pass-time", ({ seconds }) => ask("POST", "clock", { seconds: Number(seconds) }));
on("clear-faults", () => ask("DELETE", "faults"));
on("start", () => ask("POST", `people/${state.chat.id}/start`, { payload: "" }));
on("block", () => ask("PATCH", `people/${state.chat.id}`, { blocked: !person(state.chat.id).blocked }));
on("kick", () => ask("PATCH", `chats/${state.chat.id}`, { bot_status: "kicked" }));
on("migrate", async () => open(await ask("POST", `chats/${state.chat.id}/migrate`, {})));
on("no-reply", async () => reply(null));
$("composer").elements.text.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    $("composer").requestSubmit();
  }
});
$("add-fault").elements.kind.replaceChildren(...KINDS.map((kind) => new Option(kind)));
follow();
