// Finding the splits of a feature and the leaves of a class.

class Search {
  constructor(model, format, places) {
    Object.assign(this, { model, format, places });
    this.rank = -1;
    const names = [...model.tested.map((j) => format.featureName(j)), ...model.data.classes.map((_, k) => format.className(k))];
    byId("names").append(...[...new Set(names)].slice(0, 1000).map((name) => make("option", { value: name })));
    byId("query").addEventListener("input", () => this.look());
    byId("previous").addEventListener("click", () => this.go(-1));
    byId("search").addEventListener("submit", (event) => {
      event.preventDefault();
      this.go(1);
    });
    byId("query").addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !event.shiftKey) return;
      event.preventDefault();
      this.go(-1);
    });
  }

  // Features and classes whose name holds the query; only those of that very name if there are any.
  hits(names, query) {
    const lower = names.map((name) => name.toLowerCase());
    const same = lower.map((name) => name === query);
    return { same, part: lower.map((name) => name.includes(query)) };
  }

  look() {
    const { model, format } = this;
    const query = byId("query").value.trim().toLowerCase();
    const features = this.hits(model.data.features.map((_, j) => format.featureName(j)), query);
    const classes = this.hits(model.data.classes.map((_, k) => format.className(k)), query);
    const kind = [...features.same, ...classes.same].includes(true) ? "same" : "part";
    const matches = (node) => (model.isLeaf(node) ? classes[kind][model.classOf(node)] : features[kind][model.feature[node]]);
    this.rank = -1;
    this.matches = query ? matches : null;
    this.counts = query ? model.count(matches) : null;
    this.places.setMatches(this.matches, this.counts);
    this.tell();
  }

  go(by) {
    const n = this.counts?.[0];
    if (!n) return;
    this.rank = this.rank < 0 ? (by > 0 ? 0 : n - 1) : (this.rank + by + n) % n;
    this.places.show(this.model.pathToMatch(this.counts, this.matches, this.rank));
    this.tell();
  }

  tell() {
    const n = this.counts?.[0];
    byId("previous").disabled = byId("next").disabled = !n;
    if (n === undefined) byId("found").textContent = "";
    else if (!n) byId("found").textContent = "nothing found";
    else if (this.rank < 0) byId("found").textContent = plural(n, "match", "matches");
    else byId("found").textContent = `${formatCount(this.rank + 1)} of ${formatCount(n)}`;
  }
}
