/* Time: by the space's clock, which the page was given, and in the reader's own zone. */
let ahead = 0; // of the space's clock before this machine's, in ms
const now = () => Date.now() + ahead;
const setClock = (iso) => {
  if (iso) ahead = Date.parse(iso) - Date.now();
};
const UNITS = [[60e3, 1e3, "s"], [3600e3, 60e3, "min"], [48 * 3600e3, 3600e3, "h"], [Infinity, 24 * 3600e3, "d"]];
const unit = (ms) => UNITS.find(([below]) => ms < below);
const rounded = (ms) => `${Math.floor(ms / unit(ms)[1])} ${unit(ms)[2]}`;
const WORDS = {
  // The same words as the server's (inert.left, inert.ago, inert.ahead).
  left: (ms) => (ms > 0 ? `${rounded(Math.max(ms + unit(ms)[1] / 2, 5e3))} left` : "over"),
  in: (ms) => (ms > 0 ? `in ${WORDS.left(ms).slice(0, -5)}` : "now"),
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
