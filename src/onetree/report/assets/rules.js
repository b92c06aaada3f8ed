// The rules, one per leaf; with data, those that most rows follow come first.

const RULES_AT_ONCE = 20;

class Rules {
  // `showLeaf` gets the path of a leaf.
  constructor(model, format, places, showLeaf) {
    Object.assign(this, { model, format, places, showLeaf });
    this.chosen = -1; // class, or all
    const choice = byId("rules-class");
    choice.append(make("option", { value: "-1", textContent: "all" }));
    model.data.classes.forEach((_, index) => {
      choice.append(make("option", { value: String(index), textContent: format.className(index) }));
    });
    choice.addEventListener("change", () => {
      this.chosen = Number(choice.value);
      this.refresh();
    });
    byId("more-rules").addEventListener("click", () => this.add());
    this.refresh();
  }

  isWanted(node) {
    return this.model.isLeaf(node) && (this.chosen < 0 || this.model.classOf(node) === this.chosen);
  }

  // The paths of all wanted leaves: those with rows by their number, then the others from the top down.
  *paths() {
    const { coverage } = this.model;
    for (const at of coverage?.endsByRows() ?? []) {
      const path = coverage.pathTo(at);
      const nodes = this.model.nodesOn(path);
      if (this.isWanted(nodes[nodes.length - 1])) yield path;
    }
    if (this.places.hideEmpty) return;
    for (let rank = 0; rank < this.counts[0]; rank++) {
      const path = this.model.pathToMatch(this.counts, this.matches, rank);
      if (!coverage || coverage.atPath(path) < 0) yield path;
    }
  }

  refresh() {
    this.matches = (node) => this.isWanted(node);
    this.counts = this.model.count(this.matches);
    this.rest = this.paths();
    this.next = this.rest.next();
    this.shown = 0;
    byId("rules").replaceChildren();
    this.add();
  }

  add() {
    const list = byId("rules");
    for (let n = 0; n < RULES_AT_ONCE && !this.next.done; n++) {
      list.append(this.rule(this.next.value));
      this.shown++;
      this.next = this.rest.next();
    }
    const all = this.counts[0];
    const order = this.model.coverage ? "Those that most rows follow come first. " : "";
    const hidden = this.places.hideEmpty ? "; those without rows are hidden" : "";
    byId("rules-note").textContent =
      `One rule per leaf, one condition per feature; for every input exactly one holds. ${order}` +
      `Shown: ${formatCount(this.shown)} of ${formatCount(all)}${this.model.data.nodes.below.length ? " in this file" : ""}${hidden}.`;
    byId("more-rules").hidden = this.next.done;
    byId("more-rules").textContent = "Show more";
  }

  rule(path) {
    const { model, format } = this;
    const nodes = model.nodesOn(path);
    const conditions = [...model.boxOf(path)].map(([feature, interval]) =>
      make("li", {}, ...elementsOf(format.condition(feature, interval))),
    );
    if (!conditions.length) conditions.push(make("li", { textContent: "always" }));
    const show = makeButton("Show", () => this.showLeaf(path), { className: "quiet", "aria-label": "Show this leaf in the tree" });
    const copy = makeButton("Copy", () => copyText(format.rule(path), copy), { className: "quiet", "aria-label": "Copy this rule" });
    const head = make("div", { className: "rule-head" }, format.leafChip(nodes[nodes.length - 1]));
    if (model.coverage) head.append(this.share(path));
    const buttons = make("div", { className: "rule-buttons" }, copy, show);
    return make("li", {}, head, make("ul", { className: "conditions" }, ...conditions), buttons);
  }

  // The share of all rows that follow a rule, as a bar in the colours of their classes.
  share(path) {
    const { coverage } = this.model;
    const at = coverage.atPath(path);
    const rows = at < 0 ? 0 : coverage.rows[at];
    const text = rows ? `${plural(rows, "row")} (${formatShare(rows, coverage.nRows)})` : at === UNCOUNTED ? "rows not counted" : "no rows";
    const bar = make("span", { className: "share-bar", "aria-hidden": "true" });
    if (rows) {
      const fill = classBar(coverage.classes(at), "bar");
      fill.style.width = `${(100 * rows) / coverage.nRows}%`;
      bar.append(fill);
    }
    return make("div", { className: "rule-share" }, make("span", { className: "note", textContent: text }), bar);
  }
}
