// Document elements made of text only, and counts as people read them.

// Of classes; those of a tree with numbers come with it.
const COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c8c8c", "#b8a900"];

// Makes an element. Children are elements or text; text never becomes markup.
function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("aria-") || name === "role" || name === "for") element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children);
  return element;
}

function makeButton(text, onClick, properties = {}) {
  const button = make("button", { type: "button", textContent: text, ...properties });
  button.addEventListener("click", onClick);
  return button;
}

function makeSvg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(byId("drawing-svg").namespaceURI, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function byId(id) {
  return document.getElementById(id);
}

function formatCount(n) {
  return n < 1e15 ? n.toLocaleString("en-US") : n.toExponential(2);
}

function plural(n, one, many = `${one}s`) {
  return `${formatCount(n)} ${n === 1 ? one : many}`;
}

// A share in percent that is only "0 %" or "100 %" if it is.
function formatShare(part, all) {
  if (!all || !part || part === all) return part && part === all ? "100\u00a0%" : "0\u00a0%";
  const percent = (100 * part) / all;
  if (percent < 0.1) return "<\u00a00.1\u00a0%";
  if (percent > 99.9) return ">\u00a099.9\u00a0%";
  return `${percent.toFixed(1)}\u00a0%`;
}

function colourOf(index) {
  return index < COLOURS.length ? COLOURS[index] : `hsl(${Math.round((index * 137.5) % 360)} 60% 50%)`;
}

function chipElement(colour, name) {
  const dot = make("i", { className: "dot" });
  dot.style.background = colour;
  return make("span", { className: "chip" }, dot, nameElement(name));
}

// A bar of parts in the colours of their classes; it says nothing to those who listen.
function classBar(counts, className = "bar") {
  const bar = make("span", { className, "aria-hidden": "true" });
  counts.forEach((count, index) => {
    if (!count) return;
    const part = make("i");
    part.style.flexGrow = count;
    part.style.background = colourOf(index);
    bar.append(part);
  });
  return bar;
}

// Copies text and says so on the button that was pressed.
async function copyText(text, button) {
  let done = true;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = make("textarea", { value: text, className: "visually-hidden" });
    document.body.append(area);
    area.select();
    done = document.execCommand("copy");
    area.remove();
    button.focus();
  }
  const label = button.textContent;
  byId("announcement").textContent = done ? "Copied" : "Copying is not allowed here";
  if (button.dataset.label) return;
  button.dataset.label = label;
  button.textContent = done ? "Copied" : "Not allowed";
  setTimeout(() => {
    button.textContent = label;
    delete button.dataset.label;
    byId("announcement").textContent = "";
  }, 1500);
}
