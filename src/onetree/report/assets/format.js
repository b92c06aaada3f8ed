// Numbers, names and intervals as people read them, and document elements made of text only.

const PLAIN_DIGITS = 6;
const PLAIN_MEMBERS = 6; // of a set in a row of the tree
const OTHER_COSTS = 2; // words: a set is rather said without "other" than a little shorter
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
    const { feature, cut, set } = this.model;
    const name = nameElement(this.featureName(feature[node]));
    if (set[node]) {
      const everything = this.model.everything(feature[node]);
      const members = everything.members.map((possible, element) => possible & set[node][element]);
      return [name, " ", ...this.setWords(feature[node], members, this.exact ? Infinity : PLAIN_MEMBERS), "?"];
    }
    if (cut[node] === Infinity) return [name, " is known?"];
    return [name, ` ≤ ${this.level(feature[node], cut[node])}?`];
  }

  // Which elements are meant: an array of document parts, abbreviated beyond `most` of them.
  setWords(feature, members, most = Infinity) {
    const kind = this.model.kinds[feature];
    const numbers = [...members.keys()].filter((element) => element !== MISSING);
    const ordered = [...numbers.slice(1), OTHER]; // "other" comes last
    const sides = [1, 0].map((side) => ordered.filter((element) => members[element] === side));
    const missing = members[MISSING] === 1;
    if (!sides[0].length && missing) return ["is missing"];
    if (!sides[1].length) return [missing ? "has any value" : "is known"];
    const cost = sides.map((side) => side.length + (side.includes(OTHER) ? OTHER_COSTS : 0));
    const inside = cost[0] < cost[1] || (cost[0] === cost[1] && !members[OTHER]);
    const listed = sides[inside ? 0 : 1];
    const parts = [inside ? "in {" : "not in {"];
    listed.slice(0, most).forEach((element, i) => parts.push(i ? ", " : "", nameElement(kind.labels[element])));
    if (listed.length > most) parts.push(`, … ${formatCount(listed.length - most)} more`);
    parts.push(missing ? "} or missing" : "}");
    return parts;
  }

  // A value as text, with the name of its category.
  value(feature, value, text) {
    const kind = this.model.kinds[feature];
    const element = kind?.element(value);
    if (!kind || (!kind.names.length && element !== OTHER)) return [text];
    return [`${text} (`, nameElement(kind.labels[element]), ")"];
  }

  // A condition on one feature: an array of document parts.
  condition(feature, interval) {
    const name = nameElement(this.featureName(feature));
    const { low, high, missing } = interval;
    if (isEmpty(interval)) return [name, " contradicts itself"];
    if (interval.members) return [name, " ", ...this.setWords(feature, interval.members)];
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
