// The sections around the tree: what was converted and proven, feature use, the selected node, the rules.

const RULES_AT_ONCE = 25;
const MOST_UNUSED = 100; // names listed
const MOST_COORDINATES = 60; // listed of an input on which tree and model differ
const EQUALITY = {
  equal: ["good", "Yes, everywhere"],
  differs: ["bad", "No"],
  unfinished: ["open", "Not settled"],
  unchecked: ["open", "Not checked"],
};
const STATS = {
  engine: "method",
  seconds: "seconds",
  cells: "cells of the grid",
  boxes: "boxes",
  states: "states",
  peak_bytes: "bytes of memory",
};

function badge(kind, text) {
  return make("p", { className: `badge ${kind}`, textContent: text });
}

function showHeader({ data }) {
  const [trees, leaves] = ["trees", "leaves"].map((name) => data.sizes.find((size) => size.measure === name).before);
  const title = data.title?.trim() || "One tree";
  byId("title").textContent = title;
  document.title = `${title} · onetree report`;
  const after = `one tree of depth ${formatCount(data.depth)} with ${plural(data.leaves, "leaf", "leaves")}`;
  byId("lead").textContent =
    trees === null
      ? `${after.replace("one", "One")}. What it was made from was not given.`
      : `${plural(trees, "tree")} with ${plural(leaves, "leaf", "leaves")} as ${after}.`;
  byId("footer").textContent = `Written by onetree ${data.version}. This file holds everything it shows and loads nothing.`;
}

function showEquality({ data }, format, followPoint) {
  const { state, text, exact, counterexample } = data.equality;
  const [kind, short] = EQUALITY[state];
  const parts = [badge(exact || state === "equal" ? kind : "open", exact || state === "equal" ? short : `${short} (pruned)`)];
  parts.push(make("p", { textContent: text }));
  if (data.agreement) {
    const { rows, equal } = data.agreement;
    parts.push(make("p", { textContent: `On the data: the same class in ${formatCount(equal)} of ${plural(rows, "row")}.` }));
  }
  if (counterexample) {
    const items = counterexample.slice(0, MOST_COORDINATES).map((value, feature) =>
      value === "nan"
        ? make("li", {}, nameElement(format.featureName(feature)), " = missing")
        : make("li", {}, nameElement(format.featureName(feature)), " = ", ...format.value(feature, toNumber(value), value)),
    );
    const more = counterexample.length - items.length;
    if (more > 0) items.push(make("li", { textContent: `and ${plural(more, "more feature")}` }));
    const button = make("button", { type: "button", textContent: "Follow it in the tree" });
    button.addEventListener("click", () => followPoint(counterexample.map(toNumber)));
    parts.push(make("ul", { className: "plain", tabIndex: 0, "aria-label": "Input on which they differ" }, ...items), button);
  }
  byId("equality").append(...parts);
}

function showProof({ data }) {
  const { state, text, objective, stats } = data.proof;
  const short = { optimal: "Yes, proven", bounded: "Not proven", unknown: "Not known" }[state];
  const parts = [badge(state === "optimal" ? "good" : "open", short), make("p", { textContent: text })];
  const rows = Object.entries(STATS).filter(([name]) => stats[name]).map(([name, label]) => [label, stats[name]]);
  if (objective) rows.unshift(["objective", objective]);
  if (rows.length) {
    const list = make("dl", { className: "pairs" });
    for (const [label, value] of rows) {
      const shown = typeof value === "number" ? formatCount(Number(value.toPrecision(3))) : value;
      list.append(make("dt", { textContent: label }), make("dd", { textContent: shown }));
    }
    parts.push(make("details", {}, make("summary", { textContent: "How it was found" }), list));
  }
  byId("proof").append(...parts);
}

function headerRow(...labels) {
  const cells = labels.map((label) => (label ? make("th", { scope: "col", textContent: label }) : make("td")));
  return make("thead", {}, make("tr", {}, ...cells));
}

function showSizes({ data }) {
  const known = data.sizes.some((size) => size.before !== null);
  const body = make("tbody");
  for (const { measure, before, after } of data.sizes) {
    const cells = known ? [before, after] : [after];
    const row = make("tr", {}, make("th", { scope: "row", textContent: measure }));
    row.append(...cells.map((n) => make("td", { className: "number", textContent: formatCount(n) })));
    body.append(row);
  }
  const header = headerRow("", ...(known ? ["model"] : []), "tree");
  byId("sizes").append(make("table", { className: "sizes" }, header, body));
}

function showFeatureUse(model, format) {
  const { feature_use: uses, features } = model.data;
  const known = uses.some((use) => use.thresholds_before !== null);
  const most = uses.length ? uses[0].splits : 1;
  const body = make("tbody");
  for (const use of uses) {
    const fill = make("i");
    fill.style.width = `${(100 * use.splits) / most}%`;
    const number = (n) => make("td", { className: "number", textContent: formatCount(n) });
    body.append(
      make(
        "tr",
        {},
        make("th", { scope: "row" }, nameElement(format.featureName(use.feature))),
        make("td", { className: "use" }, make("span", { className: "use-bar", "aria-hidden": "true" }, fill)),
        number(use.splits),
        number(use.thresholds),
        ...(known ? [number(use.thresholds_before)] : []),
        number(use.first_depth),
      ),
    );
  }
  const tests = model.kinds.some((kind) => kind) ? "thresholds or sets" : "thresholds";
  const labels = ["feature", "", "splits", tests, ...(known ? [`${tests} in the model`] : []), "first at depth"];
  if (uses.length) {
    const table = make("table", { className: "uses" }, headerRow(...labels), body);
    byId("use").append(make("div", { className: "wide", tabIndex: 0, role: "region", "aria-label": "Table of feature use" }, table));
  }
  const tested = new Set(model.tested);
  const unused = features.map((_, feature) => feature).filter((feature) => !tested.has(feature));
  if (unused.length) {
    const note = make("p", { className: "note" }, "Never tested: ");
    unused.slice(0, MOST_UNUSED).forEach((feature, i) => {
      note.append(i ? ", " : "", nameElement(format.featureName(feature)));
    });
    if (unused.length > MOST_UNUSED) note.append(`, and ${formatCount(unused.length - MOST_UNUSED)} more`);
    byId("use").append(note);
  }
}

// The box of the selected row, one interval or set per feature; intervals are drawn between the feature's least and largest threshold.
function showSelected(model, format, row, { useInput, unfoldBelow }) {
  const path = row.path();
  const box = model.boxOf(path);
  const leaf = model.isLeaf(row.node);
  const parts = [make("p", { className: "what" }, ...(leaf ? [format.chip(model.classOf(row.node))] : format.test(row.node)))];
  const where = leaf
    ? `Leaf at depth ${formatCount(row.depth)}.`
    : `Split at depth ${formatCount(row.depth)} with ${plural(model.leavesBelow[row.node], "leaf", "leaves")} below.`;
  parts.push(make("p", { className: "note", textContent: where }));
  if (model.data.rows) {
    const n = model.rowsIn(box);
    const verb = leaf ? "end" : "pass";
    const text = `${formatCount(n)} of the ${plural(model.data.rows.n_shown, "row")} of data in this file ${verb} here.`;
    parts.push(make("p", { className: "note", textContent: text }));
  }
  if (box.size) {
    const list = make("ul", { className: "box", tabIndex: 0, "aria-label": "Intervals" });
    for (const [feature, interval] of box) {
      const item = make("li", {}, make("span", {}, ...format.condition(feature, interval)));
      if (!interval.members) item.append(intervalBar(model, feature, interval));
      list.append(item);
    }
    parts.push(list);
  } else parts.push(make("p", { textContent: "Every input comes here." }));
  if ([...box.values()].some(isEmpty)) parts.push(make("p", { textContent: "No input comes here." }));
  const button = make("button", { type: "button", textContent: leaf ? "Use an input from this leaf" : "Unfold all below" });
  button.addEventListener("click", () => (leaf ? useInput(model.pointIn(box)) : unfoldBelow(row)));
  button.disabled = leaf ? model.pointIn(box) === null || !model.tested.length : !model.hasChildren(row.node);
  byId("selected-content").replaceChildren(...parts, button);
}

function intervalBar(model, feature, { low, high }) {
  const levels = model.levelsOf.get(feature);
  const bar = make("span", { className: "interval", "aria-hidden": "true" });
  if (!levels.length) return bar;
  const [least, most] = [levels[0], levels[levels.length - 1]];
  // A tenth at each end stands for what lies beyond all thresholds.
  const place = (x) => {
    if (x === -Infinity) return 0;
    if (x === Infinity) return 100;
    return most > least ? 10 + 80 * ((x - least) / (most - least)) : 50;
  };
  const fill = make("i");
  fill.style.left = `${place(low)}%`;
  fill.style.width = `${Math.max(1, place(high) - place(low))}%`;
  bar.append(fill);
  return bar;
}

class Rules {
  constructor(model, format, showLeaf) {
    this.model = model;
    this.format = format;
    this.showLeaf = showLeaf;
    const choice = byId("rules-class");
    choice.append(make("option", { value: "-1", textContent: "all" }));
    model.data.classes.forEach((_, index) => {
      choice.append(make("option", { value: String(index), textContent: format.className(index) }));
    });
    choice.addEventListener("change", () => this.choose(Number(choice.value)));
    byId("more-rules").addEventListener("click", () => this.add());
    this.choose(-1);
  }

  choose(index) {
    this.matches = (node) => this.model.isLeaf(node) && (index < 0 || this.model.classOf(node) === index);
    this.counts = this.model.count(this.matches);
    this.refresh();
  }

  refresh() {
    byId("rules").replaceChildren();
    this.shown = 0;
    this.add();
  }

  add() {
    const all = this.counts[0];
    const end = Math.min(all, this.shown + RULES_AT_ONCE);
    for (; this.shown < end; this.shown++) {
      byId("rules").append(this.rule(this.model.pathToMatch(this.counts, this.matches, this.shown)));
    }
    byId("rules-note").textContent =
      `One rule per leaf, one condition per feature; for every input exactly one holds. ` +
      `Shown: ${formatCount(this.shown)} of ${formatCount(all)}${this.model.data.nodes.below.length ? " in this file" : ""}.`;
    byId("more-rules").hidden = this.shown >= all;
    byId("more-rules").textContent = `Show ${formatCount(Math.min(RULES_AT_ONCE, all - this.shown))} more`;
  }

  rule(path) {
    const { model, format } = this;
    const box = model.boxOf(path);
    const nodes = model.nodesOn(path);
    const conditions = [...box].map(([feature, interval]) =>
      make("li", {}, ...format.condition(feature, interval)),
    );
    if (!conditions.length) conditions.push(make("li", { textContent: "always" }));
    const button = make("button", { type: "button", className: "quiet", textContent: "Show" });
    button.setAttribute("aria-label", "Show this leaf in the tree");
    button.addEventListener("click", () => this.showLeaf(path));
    const head = make("div", { className: "rule-head" }, format.chip(model.classOf(nodes[nodes.length - 1])), button);
    return make("li", {}, head, make("ul", { className: "conditions" }, ...conditions));
  }
}
