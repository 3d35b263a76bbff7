/* The page begins. */
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
