/* Keys. */
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
  const after = links.indexOf(beyond?.querySelector("a.card"));
  const next = here >= 0 ? here + by : after >= 0 ? after + Math.min(by, 0) : open >= 0 ? open + by : 0;
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
