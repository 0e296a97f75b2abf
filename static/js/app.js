// What pages do by themselves: figures, the theme switch, the menu on phones.
import { draw } from "./figures.js";

const root = document.documentElement;
const dark = matchMedia("(prefers-color-scheme: dark)");

draw();
dark.addEventListener("change", draw);

const switchTheme = () => {
  const isDark = root.dataset.theme ? root.dataset.theme === "dark" : dark.matches;
  root.dataset.theme = isDark ? "light" : "dark";
  try {
    localStorage.setItem("theme", root.dataset.theme);
  } catch {
    // Storage may be forbidden: the choice then lasts for this page.
  }
  draw();
};

document.addEventListener("click", (event) => {
  const toggle = event.target.closest("[data-toggle]");
  if (toggle) {
    const box = document.getElementById(toggle.dataset.toggle);
    toggle.setAttribute("aria-expanded", String(box.toggleAttribute("data-open")));
  }
  if (event.target.closest("[data-theme-switch]")) switchTheme();
});
