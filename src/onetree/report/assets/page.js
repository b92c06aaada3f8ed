// Puts the page together.

class Search {
  constructor(model, format, view) {
    this.model = model;
    this.format = format;
    this.view = view;
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
    this.view.setMatches(this.matches, this.counts);
    this.tell();
  }

  go(by) {
    const n = this.counts?.[0];
    if (!n) return;
    this.rank = this.rank < 0 ? (by > 0 ? 0 : n - 1) : (this.rank + by + n) % n;
    this.view.show(this.model.pathToMatch(this.counts, this.matches, this.rank), { focus: false });
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

function addThemeButton() {
  const button = byId("theme");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light")) === "dark";
  const label = () => (button.textContent = isDark() ? "Light" : "Dark");
  button.setAttribute("aria-label", "Switch between light and dark");
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    label();
  });
  dark.addEventListener("change", label);
  label();
}

function start() {
  const data = JSON.parse(byId("data").textContent);
  const model = new Model(data);
  const format = new Formatter(model);
  addThemeButton();
  showHeader(model);
  showProof(model);
  showSizes(model);
  showFeatureUse(model, format);
  if (data.nodes.below.length) {
    byId("cut-note").textContent =
      `The tree has ${formatCount(data.nodes_held)} nodes; the first ${formatCount(model.size)} by depth are in this file, ` +
      "and what lies deeper is only counted.";
    byId("cut-note").hidden = false;
  }
  byId("missing-note").hidden = !model.tested.some((feature) => data.nan_features[feature]);

  const actions = {};
  const view = new TreeView(model, format, (row) => showSelected(model, format, row, actions));
  const toTree = () => byId("tree").scrollIntoView({ block: "nearest" });
  const form = new InputForm(
    model,
    format,
    (path) => {
      view.highlight(path);
      view.show(path, { focus: false });
    },
    () => view.highlight(null),
  );
  actions.useInput = (values) => {
    form.fill(values);
    form.follow();
  };
  actions.unfoldBelow = (row) => view.unfoldAll(row);
  const rules = new Rules(model, format, (path) => {
    view.show(path);
    toTree();
  });
  new Search(model, format, view);
  showEquality(model, format, (values) => {
    actions.useInput(values);
    toTree();
  });
  byId("unfold-all").addEventListener("click", () => view.unfoldAll());
  byId("fold-all").addEventListener("click", () => view.foldAll());
  byId("exact").addEventListener("change", (event) => {
    format.exact = event.target.checked;
    view.redraw();
    view.onSelect(view.active);
    rules.refresh();
  });
  view.onSelect(view.active);
}

start();
