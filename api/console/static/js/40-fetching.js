/* Fetching the page anew. One at a time, and not more often than once a second however much happens. */
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
    apply(page, "opened");
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
    apply(page, "sent");
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
