/** A text with its entities as nodes: offsets are UTF-16 units, as are JavaScript's own. */

const PLAIN = {
  bold: "b", italic: "i", underline: "u", strikethrough: "s", code: "code", pre: "pre", blockquote: "blockquote",
  expandable_blockquote: "blockquote", spoiler: "span", text_link: "a", date_time: "time", custom_emoji: "span",
};

function dated(entity, text) {
  const at = new Date(entity.unix_time * 1000);
  const format = entity.date_time_format ?? "";
  const node = document.createElement("time");
  node.dateTime = at.toISOString();
  node.title = at.toString();
  const options = {};
  if (format.includes("w")) options.weekday = "short";
  if (/[dD]/.test(format)) options.dateStyle = format.includes("D") ? "long" : "short";
  if (/[tT]/.test(format)) options.timeStyle = format.includes("T") ? "medium" : "short";
  if (options.dateStyle || options.timeStyle) delete options.weekday; // a style and its parts exclude each other
  node.textContent = Object.keys(options).length ? at.toLocaleString(undefined, options) : text;
  return node;
}

function opened(entity, text) {
  if (entity.type === "date_time") return dated(entity, text);
  const node = document.createElement(PLAIN[entity.type] ?? "span");
  if (entity.type === "text_link" && /^(https?|tg):/.test(entity.url)) {
    node.href = entity.url;
    node.rel = "noreferrer";
    node.target = "_blank";
  }
  if (entity.type === "spoiler") {
    node.className = "spoiler";
    node.tabIndex = 0;
  }
  if (entity.type === "expandable_blockquote") node.className = "folded";
  return node;
}

function fill(parent, text, from, to, entities) {
  let at = from;
  for (let n = 0; n < entities.length; n += 1) {
    const entity = entities[n];
    const end = entity.offset + entity.length;
    if (entity.offset < at) continue; // lies within the one before, which has shown it
    const inner = entities.slice(n + 1).filter((one) => one.offset >= entity.offset && one.offset + one.length <= end);
    parent.append(text.slice(at, entity.offset));
    const node = opened(entity, text.slice(entity.offset, end));
    if (entity.type !== "date_time") fill(node, text, entity.offset, end, inner);
    parent.append(node);
    if (node.className === "folded") parent.append(unfolding(node));
    at = end;
  }
  parent.append(text.slice(at, to));
}

function unfolding(quote) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Show all";
  button.addEventListener("click", () => {
    const folded = quote.classList.toggle("folded");
    button.textContent = folded ? "Show all" : "Show less";
  });
  return button;
}

/** The body of a message. */
export function marked(text, entities) {
  const body = document.createElement("div");
  body.className = "body";
  body.dir = "auto";
  const sorted = [...entities].sort((one, other) => one.offset - other.offset || other.length - one.length);
  fill(body, text, 0, text.length, sorted);
  return body;
}
