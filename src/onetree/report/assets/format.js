// Numbers, names and intervals as people read them, and document elements made of text only.

const PLAIN_DIGITS = 6;
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

function byId(id) {
  return document.getElementById(id);
}

function formatCount(n) {
  return n < 1e15 ? n.toLocaleString("en-US") : n.toExponential(2);
}

function plural(n, one, many = `${one}s`) {
  return `${formatCount(n)} ${n === 1 ? one : many}`;
}

// A name from a model, kept apart so that its letters cannot turn or reorder the text around it.
function nameElement(text, tag = "bdi") {
  return make(tag, { className: "name", textContent: text });
}

function colourOf(index) {
  return index < COLOURS.length ? COLOURS[index] : `hsl(${Math.round((index * 137.5) % 360)} 60% 50%)`;
}

class Formatter {
  constructor(model) {
    this.model = model;
    this.exact = false;
    this.digits = new Map();
  }

  featureName(feature) {
    return this.model.data.features[feature].trim() || `feature ${feature}`;
  }

  className(index) {
    return this.model.data.classes[index].trim() || `class ${index}`;
  }

  // A threshold with as few digits as keep it apart from the other thresholds of its feature.
  level(feature, value) {
    if (this.exact || !Number.isFinite(value)) return String(value);
    if (!this.digits.has(feature)) this.digits.set(feature, digitsThatDiffer(this.model.levelsOf.get(feature)));
    return String(Number(value.toPrecision(this.digits.get(feature))));
  }

  // The same, with all its digits where fewer would put `value` on the wrong side.
  levelBeside(feature, level, value) {
    const short = this.level(feature, level);
    return value <= Number(short) === value <= level ? short : String(level);
  }

  chip(index) {
    const dot = make("i", { className: "dot" });
    dot.style.background = colourOf(index);
    return make("span", { className: "chip" }, dot, nameElement(this.className(index)));
  }

  // What a split asks: an array of document parts.
  test(node) {
    const { feature, cut } = this.model;
    const name = nameElement(this.featureName(feature[node]));
    if (cut[node] === Infinity) return [name, " is known?"];
    return [name, ` ≤ ${this.level(feature[node], cut[node])}?`];
  }

  // A condition on one feature: an array of document parts.
  condition(feature, interval) {
    const name = nameElement(this.featureName(feature));
    const { low, high, missing } = interval;
    if (isEmpty(interval)) return [name, " contradicts itself"];
    if (low >= high) return [name, " is missing"];
    const parts = [name];
    if (low > -Infinity && high < Infinity) {
      parts.unshift(`${this.level(feature, low)} < `);
      parts.push(` ≤ ${this.level(feature, high)}`);
    } else if (low > -Infinity) parts.push(` > ${this.level(feature, low)}`);
    else if (high < Infinity) parts.push(` ≤ ${this.level(feature, high)}`);
    else if (!missing) parts.push(" is known");
    else parts.push(" has any value");
    if (missing && low > -Infinity) parts.push(" or missing");
    return parts;
  }
}

function digitsThatDiffer(levels) {
  for (let digits = PLAIN_DIGITS; digits < 17; digits++) {
    const short = levels.map((level) => Number(level.toPrecision(digits)));
    if (short.every((value, i) => i === 0 || value !== short[i - 1])) return digits;
  }
  return 17;
}
