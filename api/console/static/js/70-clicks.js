/* What one clicks, types and sends. */
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

// What is shown once: it can be copied, and is gone from the page when one leaves it.
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
