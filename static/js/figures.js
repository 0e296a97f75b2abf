// Draws figures: JSON with var(--token) colours becomes real colours of the theme in force. A theme switch redraws.
const seen = new Map();
let probe = null;

const colour = (value) => {
  if (!seen.has(value)) {
    probe.style.color = value;
    seen.set(value, getComputedStyle(probe).color);
  }
  return seen.get(value);
};

const resolve = (x) => {
  if (typeof x === "string") return x.startsWith("var(--") ? colour(x) : x;
  if (Array.isArray(x)) return x.map(resolve);
  if (x && typeof x === "object") return Object.fromEntries(Object.entries(x).map(([k, v]) => [k, resolve(v)]));
  return x;
};

// What each plot shows: a figure that did not change is not drawn again.
const drawn = new WeakMap();

// A plot narrower than this leaves out annotations named "wide" and takes layout.meta.narrow.
const NARROW = 480;

export const draw = () => {
  if (!window.Plotly) return;
  probe ??= document.body.appendChild(Object.assign(document.createElement("span"), { hidden: true }));
  seen.clear();
  const theme = document.getElementById("chart-theme");
  const template = theme ? resolve(JSON.parse(theme.textContent)) : undefined;
  const scheme = colour("var(--ink)");
  for (const plot of document.querySelectorAll(".plot[data-figure]")) {
    const text = document.getElementById(plot.dataset.figure).textContent;
    if (drawn.get(plot) === scheme + text) continue;
    drawn.set(plot, scheme + text);
    const figure = resolve(JSON.parse(text));
    const layout = { ...figure.layout, template };
    if (layout.xaxis?.hoverformat) layout.xaxis = { ...layout.xaxis, hoverformat: document.documentElement.dataset.hoverDay };
    if (plot.clientWidth < NARROW) {
      for (const [key, value] of Object.entries(layout.meta?.narrow ?? {})) layout[key] = { ...layout[key], ...value };
      layout.annotations = (layout.annotations ?? []).filter((one) => one.name !== "wide");
    }
    window.Plotly.react(plot, figure.data, layout, { displayModeBar: false, responsive: true, scrollZoom: false });
  }
};
