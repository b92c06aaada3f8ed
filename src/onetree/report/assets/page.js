// Puts the page together.

function addThemeButton(onChange) {
  const button = byId("theme");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light")) === "dark";
  const label = () => (button.textContent = isDark() ? "Light" : "Dark");
  button.setAttribute("aria-label", "Switch between light and dark");
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    label();
    onChange();
  });
  dark.addEventListener("change", () => {
    label();
    onChange();
  });
  label();
}

// The three views of the tree, of which one shows.
class Views {
  constructor(views) {
    this.views = views;
    this.names = Object.keys(views);
    for (const name of this.names) {
      byId(`view-${name}`).addEventListener("click", () => this.choose(name));
      byId(`view-${name}`).addEventListener("keydown", (event) => {
        const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!by) return;
        const next = this.names[(this.names.indexOf(name) + by + this.names.length) % this.names.length];
        this.choose(next);
        byId(`view-${next}`).focus();
      });
    }
    this.choose(matchMedia("(max-width: 40rem)").matches ? "list" : "drawing");
    addEventListener("beforeprint", () => (byId("list-panel").hidden = false));
    addEventListener("afterprint", () => this.choose(this.chosen));
  }

  choose(chosen) {
    this.chosen = chosen;
    for (const name of this.names) {
      byId(`${name}-panel`).hidden = name !== chosen;
      byId(`view-${name}`).setAttribute("aria-selected", name === chosen);
      byId(`view-${name}`).tabIndex = name === chosen ? 0 : -1;
    }
  }

  get now() {
    return this.views[this.chosen];
  }

  update(change) {
    Object.values(this.views).forEach((view) => view.update(change));
  }
}

function showLegend(model, format) {
  const { coverage, data } = model;
  const most = 12;
  const chips = data.classes.slice(0, most).map((_, index) => format.chip(index));
  if (data.classes.length > most) chips.push(`and ${formatCount(data.classes.length - most)} more`);
  const words = {
    data: "by their own class",
    model: "by the class that the model gives them",
    tree: `by the ${data.output === "value" ? "value" : "class"} that the tree gives them`,
  };
  const text = coverage
    ? `Bars and edges count ${plural(coverage.nRows, "row")} of data, ${words[coverage.of]}.`
    : "No data were given, so no rows are counted.";
  byId("legend").append(...chips, make("span", { className: "note", textContent: text }));
}

function showNotes(model) {
  const { data } = model;
  if (data.nodes.below.length) {
    byId("cut-note").textContent =
      `The tree has ${formatCount(data.nodes_held)} nodes; the first ${formatCount(model.size)} by depth are in this file, ` +
      "and what lies deeper is only counted.";
    byId("cut-note").hidden = false;
  }
  byId("missing-note").hidden = !model.tested.some((feature) => data.nan_features[feature]);
}

function start() {
  const data = JSON.parse(byId("data").textContent);
  if (data.colours) COLOURS.splice(0, COLOURS.length, ...data.colours);
  if (data.output === "value") {
    byId("rules-class").labels[0].firstChild.data = "Value ";
    byId("query").placeholder = "Search a feature or value";
  }
  const model = new Model(data);
  const format = new Formatter(model);
  const places = new Places(model);
  showHeader(model);
  showProof(model);
  showSizes(model);
  showFeatureUse(model, format);
  showFrontier(model);
  showToleranceFront(model);
  showLegend(model, format);
  showNotes(model);

  const drawing = new Drawing(model, format, places);
  const views = new Views({ drawing, map: new MapView(model, format, places), list: new ListView(model, format, places) });
  const links = new Links(model, places);
  const form = new InputForm(model, format, places);
  const toTree = () => byId("tree-title").scrollIntoView({ block: "start" });
  const useInput = (values) => {
    form.fill(values);
    form.follow();
    form.showEnd();
  };
  const selected = new Selected(model, format, places, {
    useInput,
    unfoldBelow: (place) => unfoldAll(places, place),
    link: (place) => links.address(place),
  });
  const rules = new Rules(model, format, places, (path) => {
    places.show(path);
    toTree();
    views.now.focus();
  });
  new Search(model, format, places);
  const followPoint = (values) => {
    useInput(values);
    toTree();
  };
  showEquality(model, format, followPoint);
  showChecks(model, format, followPoint);
  addThemeButton(() => views.update("theme"));
  addDownloads(drawing, document.title);
  byId("unfold-all").addEventListener("click", () => unfoldAll(places));
  byId("fold-all").addEventListener("click", () => {
    places.foldAll();
    byId("tree-message").textContent = "";
  });
  byId("hide-empty-label").hidden = !model.coverage;
  byId("hide-empty").addEventListener("change", (event) => {
    places.setHideEmpty(event.target.checked);
    rules.refresh();
  });
  byId("exact").addEventListener("change", (event) => {
    format.exact = event.target.checked;
    views.update("theme");
    selected.show();
    rules.refresh();
  });
  const linked = links.follow();
  let told = places.active;
  places.listen((change) => {
    views.update(change);
    byId("hide-empty").checked = places.hideEmpty;
    if (change === "selected") selected.show();
    if (change !== "selected" || places.active === told) return;
    told = places.active;
    links.remember(told);
  });
  selected.show();
  if (linked) toTree();
}

start();
