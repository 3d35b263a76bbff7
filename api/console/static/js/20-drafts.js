/* Drafts: what is typed is kept for this tab until it is sent, wherever one looks meanwhile. */
const TYPED = "textarea:not([readonly]), input[type=text], input[type=date]";
const field = (el) => el.matches?.(`${TYPED}, input[type=radio]`) && el.form?.hasAttribute("data-send");
// A field may be called `action` and then stands before the form's own property of that name.
const address = (form) => new URL(form.getAttribute("action"), location.href);
// `data-of` of a form: what it is about, where one about something else may take its place at the same address.
const slot = (form, name) => `draft ${address(form).pathname} ${form.dataset.of ?? ""} ${name}`;
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
const CHOICE = / (option|outcome)$/; // drafts that are no words
/** Puts drafts back into the fields of a card; where their form is gone, shows them to be copied. */
function bringBack(card) {
  const fields = [...card.querySelectorAll("form[data-send] :is(textarea, input[type=text], input[type=date], input[type=radio])")];
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
  const about = (key) => key.includes(`/${card.dataset.of}/`) || key.includes(`/${card.dataset.of} `);
  const lost = store.keys().filter((key) => about(key) && !CHOICE.test(key) && !here.has(key));
  const area = kept.querySelector("textarea");
  const words = [area.value, ...lost.map(store.get)].filter(Boolean);
  area.value = [...new Set(words)].join("\n\n");
  kept.hidden = !area.value;
  const discard = kept.querySelector("button");
  discard.hidden = !lost.length;
  discard.onclick = () => {
    lost.forEach((key) => store.set(key, ""));
    area.value = "";
    kept.hidden = true;
    card.querySelector("[data-status]")?.focus();
  };
}
