// Puts a new state of the page over the one that is shown and touches only what differs: focus, scroll, open parts and
// what somebody is typing stay as they are.

// What a person has opened is theirs, not the server's.
const THEIRS = new Set(["open", "data-open", "aria-expanded", "data-dirty"]);

const attributes = (from, to) => {
  for (const { name } of [...from.attributes]) {
    if (!to.hasAttribute(name) && !THEIRS.has(name)) from.removeAttribute(name);
  }
  for (const { name, value } of to.attributes) {
    if (!THEIRS.has(name) && from.getAttribute(name) !== value) from.setAttribute(name, value);
  }
};

const isBusy = (node) =>
  node.nodeName === "FORM" && (node.hasAttribute("data-dirty") || (node.contains(document.activeElement) && document.activeElement.matches("input, select, textarea")));

const node = (from, to) => {
  if (from.isEqualNode(to) || (from.nodeType === Node.ELEMENT_NODE && isBusy(from))) return;
  if (from.nodeType !== Node.ELEMENT_NODE) {
    from.nodeValue = to.nodeValue;
    return;
  }
  if (from.hasAttribute("data-keep")) {
    // A drawn figure: its inside belongs to the script that drew it, its size to the server.
    for (const name of ["aria-label", "data-figure"]) if (to.hasAttribute(name)) from.setAttribute(name, to.getAttribute(name));
    from.className = [to.className, ...[...from.classList].filter((one) => one.startsWith("js-"))].join(" ").trim();
    return;
  }
  attributes(from, to);
  children(from, to);
};

const children = (from, to) => {
  const named = new Map([...from.children].filter((one) => one.id).map((one) => [one.id, one]));
  let at = from.firstChild;
  for (const fresh of [...to.childNodes]) {
    const same = (one) => one && one.nodeName === fresh.nodeName;
    const match = fresh.id ? named.get(fresh.id) : at && !at.id && same(at) ? at : null;
    if (!same(match)) {
      from.insertBefore(fresh, at);
      continue;
    }
    if (match === at) at = at.nextSibling;
    else from.insertBefore(match, at);
    node(match, fresh);
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
};

export const morph = (from, to) => {
  const focused = document.activeElement?.id;
  node(from, to);
  const now = focused && document.getElementById(focused);
  if (now && now !== document.activeElement) now.focus({ preventScroll: true });
};
