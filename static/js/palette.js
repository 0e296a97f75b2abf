// The command palette: "/" or Ctrl+K opens it; arrows, Home, End, Enter, Esc. Without script the search page does the same.
const dialog = document.getElementById("palette");

const start = () => {
  const input = dialog.querySelector("[role=combobox]");
  const list = dialog.querySelector("[role=listbox]");
  const said = document.getElementById("palette-said");
  let at = -1;
  let asking = null;
  let timer = 0;
  const options = () => [...list.querySelectorAll("[role=option]")];

  const choose = (place) => {
    const all = options();
    at = all.length ? (place + all.length) % all.length : -1;
    for (const [index, one] of all.entries()) one.setAttribute("aria-selected", String(index === at));
    if (at < 0) input.removeAttribute("aria-activedescendant");
    else {
      input.setAttribute("aria-activedescendant", all[at].id);
      all[at].scrollIntoView({ block: "nearest" });
    }
  };

  const say = () => {
    const count = options().length;
    said.textContent = count ? String(count) : dialog.dataset.none;
    input.setAttribute("aria-expanded", String(count > 0));
    dialog.toggleAttribute("data-empty", !count);
  };

  const ask = async () => {
    asking?.abort();
    asking = new AbortController();
    const address = `${dialog.dataset.source}?part=list&q=${encodeURIComponent(input.value)}`;
    try {
      const answer = await fetch(address, { signal: asking.signal, headers: { "HX-Request": "true" } });
      if (answer.headers.get("HX-Refresh")) return location.reload(); // signed out meanwhile
      if (!answer.ok) throw new Error(String(answer.status));
      const told = new DOMParser().parseFromString(await answer.text(), "text/html");
      list.replaceChildren(...told.body.children);
      choose(0);
      say();
    } catch (error) {
      if (error.name === "AbortError") return;
      list.replaceChildren();
      said.textContent = dialog.dataset.failed;
    }
  };

  const open = () => {
    if (dialog.open) return;
    dialog.showModal();
    input.select();
    ask();
  };

  const go = (option) => {
    if (option) location.assign(option.dataset.href);
  };

  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(ask, 120);
  });
  input.addEventListener("keydown", (event) => {
    const moves = { ArrowDown: at + 1, ArrowUp: at - 1 };
    if (event.key in moves) {
      event.preventDefault();
      choose(moves[event.key]);
    } else if (event.key === "Enter" && at >= 0 && !event.isComposing) {
      event.preventDefault();
      go(options()[at]);
    }
  });
  list.addEventListener("click", (event) => go(event.target.closest("[role=option]")));
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  document.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-palette]");
    if (!opener || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    open();
  });
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.closest?.("input, textarea, select, [contenteditable]");
    const isSlash = event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (!isSlash && !(event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey))) return;
    event.preventDefault();
    open();
  });
};

if (dialog) start();
