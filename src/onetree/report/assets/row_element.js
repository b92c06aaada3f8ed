// One row of the tree as an element: how deep it is, which answer led to it, what it asks or says, what is below.

const MOST_CLASSES = 12; // in the bar of a row
const MOST_BAR_ENTRIES = 4_000_000;

// Leaves of each class below each node, while that is little; a tree that is not wholly in the file has no bars.
function countClasses(model) {
  const n = model.data.classes.length;
  if (n < 2 || n > MOST_CLASSES || n * model.size > MOST_BAR_ENTRIES || model.data.nodes.below.length) return null;
  const shares = new Float64Array(n * model.size);
  for (let index = 0; index < n; index++) {
    const counts = model.count((node) => model.isLeaf(node) && model.classOf(node) === index);
    counts.forEach((count, node) => (shares[node * n + index] = count));
  }
  return shares;
}

function rowElement(view, row) {
  const { model, format } = view;
  const leaf = model.isLeaf(row.node);
  row.id ||= `row-${view.nextId++}`;
  const element = make("div", {
    id: row.id,
    className: leaf ? "row leaf" : "row split",
    role: "treeitem",
    "aria-level": row.depth + 1,
    "aria-setsize": row.parent ? 2 : 1,
    "aria-posinset": row.side + 1,
  });
  element.classList.toggle("on-path", view.onPath.has(row));
  element.classList.toggle("match", Boolean(view.matches?.(row.node)));
  const indent = make("span", { className: "indent" });
  indent.style.width = `${Math.min(row.depth, view.mostSteps) * view.step}px`;
  indent.style.setProperty("--step", `${view.step}px`);
  element.append(indent, make("span", { className: "twisty", "aria-hidden": "true" }));
  if (row.depth > view.mostSteps) element.append(make("span", { className: "depth", textContent: row.depth }));
  if (row.parent) element.append(make("span", { className: "answer", textContent: row.side ? "no" : "yes" }), " ");
  if (leaf) element.append(format.chip(model.classOf(row.node)));
  else element.append(make("span", { className: "test" }, ...format.test(row.node)), " ", splitSummary(view, row));
  return element;
}

// What moving, selecting and folding change of a row that stays; whoever listens to it is then told of the change only.
function updateRowElement(view, row, element) {
  element.style.transform = `translateY(${row.index * view.rowHeight}px)`;
  element.setAttribute("aria-selected", row === view.active);
  if (!view.model.hasChildren(row.node)) return;
  element.setAttribute("aria-expanded", row.open);
  if (view.matchCounts) element.lastChild.replaceWith(splitSummary(view, row));
}

// How many matches a fold hides, how many leaves are below, and of which classes.
function splitSummary(view, row) {
  const { model } = view;
  const summary = make("span", { className: "summary" });
  if (view.matchCounts && !row.open) {
    const hidden = view.matchCounts[row.node] - (view.matches(row.node) ? 1 : 0);
    if (hidden) summary.append(make("span", { className: "hidden-matches" }, plural(hidden, "match", "matches")), " ");
  }
  const n = model.leavesBelow[row.node];
  const unit = make("span", { className: "unit", textContent: n === 1 ? " leaf" : " leaves" });
  summary.append(make("span", { className: "below" }, formatCount(n), unit));
  if (model.isCutOff(row.node)) summary.append(" not in this file");
  if (view.shares) summary.append(classBar(view, row.node));
  return summary;
}

function classBar({ model, shares }, node) {
  const bar = make("span", { className: "bar", "aria-hidden": "true" });
  const n = model.data.classes.length;
  for (let index = 0; index < n; index++) {
    const share = shares[node * n + index];
    if (!share) continue;
    const part = make("i");
    part.style.flexGrow = share;
    part.style.background = colourOf(index);
    bar.append(part);
  }
  return bar;
}
