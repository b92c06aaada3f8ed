// The selected node: what it asks or says, who comes here, and its box.

class Selected {
  // `actions` has useInput(values), unfoldBelow(place) and link(place), the address of a place.
  constructor(model, format, places, actions) {
    Object.assign(this, { model, format, places, actions });
  }

  show() {
    const { model, format } = this;
    const place = this.places.active;
    const path = place.path();
    const box = model.boxOf(path);
    const leaf = model.isLeaf(place.node);
    const what = leaf ? [format.leafChip(place.node)] : elementsOf([...format.test(place.node), "?"]);
    const parts = [make("p", { className: "what" }, ...what), this.where(place, leaf)];
    if (place.at !== UNCOUNTED) parts.push(this.rows(place));
    if (box.size) {
      const list = make("ul", { className: "box", tabIndex: 0, "aria-label": "Intervals" });
      for (const [feature, interval] of box) {
        const item = make("li", {}, make("span", {}, ...elementsOf(format.condition(feature, interval))));
        if (!interval.members) item.append(intervalBar(model, feature, interval));
        list.append(item);
      }
      parts.push(list);
    } else parts.push(make("p", { textContent: "Every input comes here." }));
    if ([...box.values()].some(isEmpty)) parts.push(make("p", { textContent: "No input comes here." }));
    parts.push(this.buttons(place, path, box, leaf));
    byId("selected-content").replaceChildren(...parts);
  }

  where(place, leaf) {
    const number = this.model.data.nodes.number[place.node];
    const below = leaf ? "" : ` with ${plural(this.model.leavesBelow[place.node], "leaf", "leaves")} below`;
    const text = `${leaf ? "Leaf" : "Split"} at depth ${formatCount(place.depth)}${below}, node ${number} of the tree.`;
    return make("p", { className: "note", textContent: text });
  }

  // How many rows come here, and of which classes.
  rows(place) {
    const { coverage, data } = this.model;
    const rows = this.places.rows(place);
    const all = rows === coverage.nRows && rows > 1;
    const verb = this.model.isLeaf(place.node) ? (rows === 1 ? "ends" : "end") : rows === 1 ? "passes" : "pass";
    const text = all ? `All ${plural(rows, "row")}` : `${plural(rows, "row")} of ${formatCount(coverage.nRows)} (${formatShare(rows, coverage.nRows)})`;
    const parts = [make("p", { className: "share", textContent: `${text} ${verb} here.` })];
    if (rows) {
      const counts = coverage.classes(place.at);
      const order = [...counts.keys()].filter((index) => counts[index]).sort((a, b) => counts[b] - counts[a]);
      const list = make("ul", { className: "classes", tabIndex: 0, "aria-label": `Rows by ${data.output === "value" ? "the value of the tree" : OF_WORDS[coverage.of]}` });
      for (const index of order) {
        const share = make("span", { className: "number", textContent: `${formatCount(counts[index])} (${formatShare(counts[index], rows)})` });
        list.append(make("li", {}, this.format.chip(index), share));
      }
      if (data.classes.length > 1) parts.push(classBar(counts, "bar large"), list);
    }
    return make("div", {}, ...parts);
  }

  buttons(place, path, box, leaf) {
    const { model, format, actions } = this;
    const main = leaf
      ? makeButton("Use an input from here", () => actions.useInput(model.pointIn(box)), { className: "quiet" })
      : makeButton("Unfold all below", () => actions.unfoldBelow(place), { className: "quiet" });
    main.disabled = leaf ? model.pointIn(box) === null || !model.tested.length : !model.hasChildren(place.node);
    const rule = makeButton(leaf ? "Copy rule" : "Copy conditions", () => copyText(format.rule(path), rule), { className: "quiet" });
    const steps = makeButton("Copy path", () => copyText(this.pathText(path), steps), { className: "quiet" });
    const link = makeButton("Copy link", () => copyText(actions.link(place), link), { className: "quiet" });
    return make("div", { className: "buttons" }, main, rule, steps, link);
  }

  // The questions on the way with their answers, one on a line.
  pathText(path) {
    const nodes = this.model.nodesOn(path);
    const lines = path.map((side, i) => `${plainTextOf(this.format.test(nodes[i]))}? ${side ? "no" : "yes"}`);
    const last = nodes[nodes.length - 1];
    if (this.model.isLeaf(last)) lines.push(`=> ${this.format.leafName(last)}`);
    return lines.join("\n");
  }
}

const OF_WORDS = { data: "their own class", model: "the class of the model", tree: "the class of the tree" };

// An interval between the feature's least and largest threshold.
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
