// Times that run down (`data-countdown`), on the server's clock: a wrong clock here can't shorten a promise. Without
// script the absolute time beside them stands.
const root = document.documentElement;
const skew = root.dataset.now ? Date.parse(root.dataset.now) - Date.now() : 0;
const two = (n) => String(n).padStart(2, "0");

const tick = () => {
  for (const one of document.querySelectorAll("[data-countdown]")) {
    const left = Math.max(0, Math.floor((Date.parse(one.dataset.countdown) - Date.now() - skew) / 1000));
    const hours = Math.floor(left / 3600);
    const minutes = Math.floor(left / 60) % 60;
    const text = hours ? `${hours}:${two(minutes)}:${two(left % 60)}` : `${two(minutes)}:${two(left % 60)}`;
    if (one.textContent !== text) one.textContent = text;
  }
};

if (document.querySelector("[data-countdown]")) tick();
setInterval(tick, 1000);
