// Tests, intervals and sets in words. A phrase is an array of text and of names, { name }, that come from a model; it
// becomes document elements or plain text. How a threshold is written was decided before: here its words are only placed.

const PLAIN_MEMBERS = 6; // of a set in a row of the tree
const OTHER_COSTS = 2; // words: a set is rather said without "other" than a little shorter
const SIGNS = { "<=": "≤", "<": "<", ">": ">", ">=": "≥" };
const OPPOSITE = { "<=": ">", "<": ">=" };
const FLIPPED = { ">": "<", ">=": "<=" };

// A name from a model, kept apart so that its letters cannot turn or reorder the text around it.
function nameElement(text, tag = "bdi") {
  return make(tag, { className: "name", textContent: text });
}

function elementsOf(phrase) {
  return phrase.map((part) => (typeof part === "string" ? part : nameElement(part.name)));
}

function textOf(phrase) {
  return phrase.map((part) => (typeof part === "string" ? part : part.name)).join("");
}

// The same in letters that code can be made of.
function plainTextOf(phrase) {
  return textOf(phrase.map((part) => (typeof part === "string" ? part.replaceAll("≤", "<=").replaceAll("≥", ">=").replaceAll("\u00a0", " ") : part)));
}

class Formatter {
  constructor(model) {
    this.model = model;
    this.exact = false; // all digits
  }

  featureName(feature) {
    return this.model.data.features[feature].trim() || `feature ${feature}`;
  }

  className(index) {
    return this.model.data.classes[index].trim() || `class ${index}`;
  }

  // What a leaf says: its class, and its numbers if it has any.
  leafName(node) {
    const { said } = this.model.data.nodes;
    if (!said) return this.className(this.model.classOf(node));
    return (this.exact ? said.exact : said.words)[this.model.outcome[node]];
  }

  chip(index) {
    return chipElement(colourOf(index), this.className(index));
  }

  leafChip(node) {
    return chipElement(this.model.leafColour(node), this.leafName(node));
  }

  // The sign and the number for inputs that go left at a level, or right.
  bound(level, side = 0, exact = this.exact) {
    const [sign, number] = this.model.words[level][exact ? 1 : 0].split(" ");
    return [side ? OPPOSITE[sign] : sign, number];
  }

  // The same, with all digits where fewer would be wrong about `value`.
  boundBeside(level, side, value) {
    const [sign, number] = this.bound(level);
    const left = sign === "<" ? value < Number(number) : value <= Number(number);
    return this.bound(level, side, this.exact || left !== value <= this.model.levels[level]);
  }

  // What a split asks.
  test(node) {
    const { feature, cut, level, set } = this.model;
    const name = { name: this.featureName(feature[node]) };
    if (set[node]) {
      const everything = this.model.everything(feature[node]);
      const members = everything.members.map((possible, element) => possible & set[node][element]);
      return [name, " ", ...this.setWords(feature[node], members, this.exact ? Infinity : PLAIN_MEMBERS)];
    }
    if (cut[node] === Infinity) return [name, " is known"];
    const [sign, number] = this.bound(level[node]);
    return [name, ` ${SIGNS[sign]}\u00a0${number}`];
  }

  // Which elements are meant, abbreviated beyond `most` of them.
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
    listed.slice(0, most).forEach((element, i) => parts.push(...(i ? [", "] : []), { name: kind.labels[element] }));
    if (listed.length > most) parts.push(`, … ${formatCount(listed.length - most)} more`);
    parts.push(missing ? "} or missing" : "}");
    return parts;
  }

  // A value as text, with the name of its category.
  value(feature, value, text) {
    const kind = this.model.kinds[feature];
    const element = kind?.element(value);
    if (!kind || (!kind.names.length && element !== OTHER)) return [text];
    return [`${text} (`, { name: kind.labels[element] }, ")"];
  }

  // A condition on one feature.
  condition(feature, interval) {
    const name = { name: this.featureName(feature) };
    const { low, high, lowLevel, highLevel, missing } = interval;
    if (isEmpty(interval)) return [name, " contradicts itself"];
    if (interval.members) return [name, " ", ...this.setWords(feature, interval.members)];
    if (low >= high) return [name, " is missing"];
    const parts = [name];
    const [least, most] = [low > -Infinity && this.bound(lowLevel, 1)[1], high < Infinity && this.bound(highLevel)[1]];
    if (least && least === most) return [name, ` = ${least}`]; // not below, and not above
    if (low > -Infinity) {
      const [sign, number] = this.bound(lowLevel, 1);
      if (high < Infinity) parts.unshift(`${number} ${SIGNS[FLIPPED[sign]]} `);
      else parts.push(` ${SIGNS[sign]} ${number}`);
    }
    if (high < Infinity) {
      const [sign, number] = this.bound(highLevel);
      parts.push(` ${SIGNS[sign]} ${number}`);
    } else if (low === -Infinity) parts.push(missing ? " has any value" : " is known");
    if (missing && low > -Infinity) parts.push(" or missing");
    return parts;
  }

  // The rule of a leaf as text, as `Tree.to_rules` writes it.
  rule(path) {
    const nodes = this.model.nodesOn(path);
    const last = nodes[nodes.length - 1];
    const conditions = [...this.model.boxOf(path)].map(([feature, interval]) => {
      const text = plainTextOf(this.condition(feature, interval));
      return text.endsWith(" or missing") ? `(${text})` : text;
    });
    const label = this.model.isLeaf(last) ? this.leafName(last) : "";
    if (!conditions.length) return label ? `always: ${label}` : "always";
    return label ? `IF ${conditions.join(" AND ")} THEN ${label}` : conditions.join(" AND ");
  }
}
