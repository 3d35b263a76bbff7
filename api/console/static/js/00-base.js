/* What pages do beyond links and forms: they stay up to date, keep what one types, and listen to keys.
 *
 * All files of this folder are one script, in the order of their names and in one scope of its own (frame.py).
 * Nothing here decides or foretells: each change on the page is a piece of a page that the server sent. Without this
 * file everything still works, one page at a time. No inline code, no eval: the policy of our pages allows neither.
 *
 * Regions. An element with an id and `data-live` is kept as the server last showed it. When something happens whose kind
 * (or a place or author of it) stands in the body's `data-on`, the page is fetched anew and each region compared by its
 * `data-version`:
 *   whole  it is replaced
 *   rows   a list: rows change in place; those that the page has in another list are shown as that where they are, and
 *          go there when one decides something, or once nobody points at the list or types. New ones come without moving
 *          others; what is nowhere any more is said in the words of `data-left`, or goes where there are none.
 *          `data-newest`: it begins with the newest
 *   card   the one thing that is open: replaced with what was typed, the focus, and all that is marked `data-fixed`
 */
const body = document.body;
const at = (id) => document.getElementById(id);
const parsed = (html) => new DOMParser().parseFromString(html, "text/html");
/** Waits, until an event of the window comes earlier. */
const pause = (ms, early = "online") => {
  const heard = new AbortController();
  return new Promise((done) => {
    setTimeout(done, ms);
    addEventListener(early, done, { signal: heard.signal });
  }).finally(() => heard.abort());
};
