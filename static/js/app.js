// What pages do by themselves: figures, renewal, countdowns, the theme switch, the menu on phones, dialogs.
import "./countdown.js";
import { draw } from "./figures.js";
import "./live.js";
import "./palette.js";

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

const toggle = (button) => {
  const box = document.getElementById(button.dataset.toggle);
  button.setAttribute("aria-expanded", String(box.toggleAttribute("data-open")));
};

document.addEventListener("click", (event) => {
  const on = (selector) => event.target.closest(selector);
  if (on("[data-toggle]")) toggle(on("[data-toggle]"));
  if (on("[data-dialog]")) document.getElementById(on("[data-dialog]").dataset.dialog)?.showModal();
  if (on("[data-close]")) on("[data-close]").closest("dialog")?.close();
  if (on("[data-copy]")) navigator.clipboard?.writeText(document.getElementById(on("[data-copy]").dataset.copy).textContent);
  if (on("[data-theme-switch]")) switchTheme();
});

document.addEventListener("keydown", (event) => {
  const menu = document.querySelector(".nav[data-open]");
  if (event.key !== "Escape" || !menu) return;
  const button = document.querySelector(`[data-toggle="${menu.id}"]`);
  toggle(button);
  button.focus();
});
