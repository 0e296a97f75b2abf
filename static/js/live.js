// Pages that renew themselves (`data-live`): htmx asks for the page again and only what changed is touched. When that
// fails, the page says of which time it is.
import { draw } from "./figures.js";
import { morph } from "./morph.js";

const place = document.querySelector("[data-live]");

const start = (htmx) => {
  let newest = Date.now();
  const wait = Number(place.dataset.live) * 1000;
  const fail = () => {
    const notice = document.getElementById("stale");
    if (notice) notice.hidden = false;
  };
  htmx.defineExtension("morph", {
    isInlineSwap: (style) => style === "morph",
    handleSwap: (style, target, fragment) => {
      if (style !== "morph") return false;
      const fresh = fragment.firstElementChild;
      if (!fresh) return fail() ?? [];
      newest = Date.now();
      morph(target, fresh);
      draw();
      return [];
    },
  });
  place.addEventListener("htmx:beforeRequest", (event) => {
    // Not while nobody looks, nor over somebody's open dialog.
    if (event.target === place && (document.hidden || document.querySelector("dialog[open], :popover-open"))) event.preventDefault();
  });
  for (const name of ["htmx:responseError", "htmx:sendError", "htmx:timeout"]) place.addEventListener(name, fail);
  const renew = () => htmx.trigger(place, "renew");
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && Date.now() - newest > wait) renew();
  });
  setInterval(() => {
    if (!document.hidden && Date.now() - newest > 3 * wait) fail();
  }, 5000);
  document.addEventListener("input", (event) => event.target.form?.setAttribute("data-dirty", ""));
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-renew]")) renew();
  });
};

if (place && window.htmx) start(window.htmx);
