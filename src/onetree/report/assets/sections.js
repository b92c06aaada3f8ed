// The sections around the tree: what was converted, proven and measured, the sizes, feature use.

const MOST_UNUSED = 100; // names listed
const MOST_COORDINATES = 60; // listed of an input on which tree and model differ
const EQUALITY = {
  equal: ["good", "Yes, everywhere"],
  within: ["good", "Within the tolerance, everywhere"],
  differs: ["bad", "No"],
  unfinished: ["open", "Not settled"],
  unchecked: ["open", "Not checked"],
  support: ["open", "Where the data are"],
};
const SMALLEST = {
  optimal: ["good", "Yes, proven"],
  bounded: ["open", "Not proven"],
  unknown: ["open", "Not known"],
  support: ["open", "Not searched for"],
  "support-optimal": ["good", "Yes, for its promise"],
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
      : `${plural(trees, "tree")} with ${plural(leaves, "leaf", "leaves")} ${data.support ? "followed by" : "as"} ${after}.`;
  byId("footer").textContent = `Written by onetree ${data.version}. This file holds everything it shows and loads nothing.`;
}

function showEquality({ data }, format, followPoint) {
  const { state, text, exact, counterexample } = data.equality;
  const [kind, short] = EQUALITY[state];
  const [measured] = data.support?.measured ?? [];
  const fair = exact || state === "equal" || state === "within"; // of others, a difference is no fault
  const parts = [badge(fair ? kind : "open", measured?.same ? `On ${measured.same} of ${measured.inputs}` : state === "differs" && !fair ? "Not everywhere" : short)];
  parts.push(make("p", { textContent: text }));
  if (data.support) parts.push(supportTable(data.support));
  if (data.agreement?.most) {
    const { rows, mean, most } = data.agreement;
    parts.push(make("p", { textContent: `On the ${plural(rows, "row")} given: ${mean} from the model on average, ${most} at most.` }));
  } else if (data.agreement && !data.support) {
    const { rows, equal } = data.agreement;
    parts.push(make("p", { textContent: `On the data: the same class in ${formatCount(equal)} of ${plural(rows, "row")} (${formatShare(equal, rows)}).` }));
  }
  if (data.accuracy?.errors) {
    const { rows, errors } = data.accuracy;
    const also = errors.model === undefined ? ". Training rows flatter it." : `, model ${errors.model}. Training rows flatter both.`;
    parts.push(make("p", { textContent: `Mean absolute error on the ${plural(rows, "row")} given: tree ${errors.tree}${also}` }));
  } else if (data.accuracy) {
    const { rows, tree, model } = data.accuracy;
    const also = model === undefined ? ". Training rows flatter it." : `, model ${formatShare(model, rows)}. Training rows flatter both.`;
    parts.push(make("p", { textContent: `Accuracy on the ${plural(rows, "row")} given: tree ${formatShare(tree, rows)}${also}` }));
  }
  if (counterexample) {
    const items = counterexample.slice(0, MOST_COORDINATES).map((value, feature) =>
      value === "nan"
        ? make("li", {}, nameElement(format.featureName(feature)), " = missing")
        : make("li", {}, nameElement(format.featureName(feature)), " = ", ...elementsOf(format.value(feature, toNumber(value), value))),
    );
    const more = counterexample.length - items.length;
    if (more > 0) items.push(make("li", { textContent: `and ${plural(more, "more feature")}` }));
    const button = makeButton("Follow it in the tree", () => followPoint(counterexample.map(toNumber)));
    parts.push(make("ul", { className: "plain", tabIndex: 0, "aria-label": "Input on which they differ" }, ...items), button);
  }
  byId("equality").append(...parts);
}

// On which inputs tree and model were compared, and for how many the class is proven.
function supportTable({ measured, cores }) {
  const body = make("tbody");
  for (const { inputs, n_inputs: n, same, mean, most, proven } of measured) {
    const cells = [formatCount(n), ...(same ? [same] : [mean, most]), ...(cores ? [proven ?? "–"] : [])];
    const row = make("tr", {}, make("th", { scope: "row", textContent: inputs }));
    row.append(...cells.map((text) => make("td", { className: "number", textContent: text })));
    body.append(row);
  }
  const header = headerRow("", "inputs", ...(measured[0]?.same ? ["same class"] : ["mean deviation", "worst"]), ...(cores ? ["in a core"] : []));
  const parts = [make("table", { className: "sizes" }, header, body)];
  if (cores) parts.push(make("p", { className: "note", textContent: "A core is a box inside a leaf in which its class is proven for every input." }));
  return make("div", {}, ...parts);
}

function showProof({ data }) {
  const { state, text, objective, stats } = data.proof;
  const parts = [badge(...SMALLEST[state]), make("p", { textContent: text })];
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
