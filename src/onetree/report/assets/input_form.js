// The form in which an input is typed, or picked from the data. It is followed with every key, so that the prediction is
// always that of what stands in the fields.

const MOST_STEPS = 200; // listed
const MOST_NAMES = 200; // of categories proposed
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

class InputForm {
  constructor(model, format, places) {
    Object.assign(this, { model, format, places });
    this.fields = new Map();
    for (const feature of model.tested) byId("fields").append(this.field(feature));
    const rest = model.data.features.length - model.tested.length;
    byId("fields-note").textContent = this.note(rest);
    byId("follow").addEventListener("submit", (event) => {
      event.preventDefault();
      if (this.follow()) this.showEnd();
      else this.fieldInNeed?.focus();
    });
    byId("clear").addEventListener("click", () => this.clear());
    if (model.data.rows?.n_shown) this.addRowPicker(model.data.rows);
  }

  note(rest) {
    const notes = [];
    if (!this.model.tested.length) notes.push("The tree tests nothing: it says the same of every input.");
    else if (rest) notes.push(rest === 1 ? "The other feature never matters." : `The other ${formatCount(rest)} features never matter.`);
    if (this.model.tested.some((feature) => this.model.data.nan_features[feature])) {
      notes.push("Leave a field marked “may be missing” empty for a missing value.");
    }
    if (this.model.tested.some((feature) => this.model.kinds[feature]?.names.length)) {
      notes.push("A category is typed by its code or its name.");
    }
    return notes.join(" ");
  }

  field(feature) {
    const id = `field-${feature}`;
    const input = make("input", { id, type: "text", inputMode: "text", autocomplete: "off", spellcheck: false });
    if (this.model.data.nan_features[feature]) input.placeholder = "may be missing";
    input.addEventListener("input", () => {
      byId("row-number").value = ""; // it is that row no more
      this.follow();
    });
    this.fields.set(feature, input);
    const problem = make("span", { id: `${id}-problem`, className: "problem" });
    input.setAttribute("aria-describedby", problem.id);
    const label = make("label", { for: id }, nameElement(this.format.featureName(feature)));
    const names = this.model.kinds[feature]?.names.slice(0, MOST_NAMES) ?? [];
    const list = make("datalist", { id: `${id}-names` }, ...names.map((name) => make("option", { value: name })));
    if (names.length) input.setAttribute("list", list.id);
    return make("div", { className: "field" }, label, input, ...(names.length ? [list] : []), problem);
  }

  addRowPicker({ n_rows: nRows, n_shown: nShown }) {
    const number = byId("row-number");
    const pick = (row) => {
      number.value = Math.min(nShown, Math.max(1, row || 1));
      this.fill(this.model.rowValues(number.value - 1));
      this.follow();
      this.showEnd();
    };
    number.max = nShown;
    number.addEventListener("change", () => pick(Math.round(Number(number.value))));
    byId("row-before").addEventListener("click", () => pick(Number(number.value) - 1));
    byId("row-after").addEventListener("click", () => pick(Number(number.value) + 1));
    byId("row-count").textContent =
      nShown < nRows ? `1 to ${formatCount(nShown)}, of ${formatCount(nRows)}` : `1 to ${formatCount(nRows)}`;
    byId("row-picker").hidden = false;
  }

  // Writes an input into the fields; what it does not say is left empty.
  fill(values) {
    for (const [feature, input] of this.fields) {
      const value = values[feature];
      input.value = value === undefined || Number.isNaN(value) ? "" : this.text(value);
      this.complain(feature, "");
    }
  }

  text(value) {
    return Math.abs(value) === Infinity ? (value > 0 ? "inf" : "-inf") : String(value);
  }

  clear() {
    this.fill([]);
    byId("row-number").value = "";
    byId("prediction").replaceChildren();
    byId("steps").replaceChildren();
    this.places.mark(null);
  }

  complain(feature, problem) {
    const input = this.fields.get(feature);
    input.setAttribute("aria-invalid", problem !== "");
    byId(`field-${feature}-problem`).textContent = problem;
  }

  // The input as typed; a field that is no number is pointed out and not known.
  read() {
    const values = [];
    this.fieldInNeed = null;
    for (const [feature, input] of this.fields) {
      const { value, problem } = parseValue(input.value, this.model.data.nan_features[feature], this.model.kinds[feature]);
      this.complain(feature, problem);
      if (problem) this.fieldInNeed ??= input;
      values[feature] = value;
    }
    return values;
  }

  // Marks the path as far as it is known, and tells where it leads; returns whether that is a leaf.
  follow() {
    const values = this.read();
    const { path, node } = this.model.follow(values);
    this.end = path;
    this.places.mark(path);
    this.tell(path, node, values);
    return this.model.isLeaf(node);
  }

  // Selects the place where the path ends.
  showEnd() {
    this.places.show(this.end);
  }

  tell(path, node, values) {
    const { model, format } = this;
    const prediction = byId("prediction");
    prediction.classList.toggle("open", !model.isLeaf(node));
    if (model.isLeaf(node)) {
      prediction.replaceChildren("Prediction: ", format.leafChip(node));
    } else if (model.isCutOff(node)) {
      prediction.replaceChildren("The path goes on where this file ends. Use the tree itself to predict.");
    } else {
      const feature = model.feature[node];
      prediction.replaceChildren("The next split needs ", nameElement(format.featureName(feature)), ".");
      this.fieldInNeed = this.fields.get(feature);
    }
    const nodes = model.nodesOn(path);
    const steps = path.slice(0, MOST_STEPS).map((side, i) => this.step(nodes[i], side, values));
    if (path.length > MOST_STEPS) {
      steps.push(make("li", { textContent: `and ${plural(path.length - MOST_STEPS, "more split")}` }));
    }
    byId("steps").replaceChildren(...steps);
  }

  step(node, side, values) {
    const { model, format } = this;
    const feature = model.feature[node];
    const value = values[feature];
    const name = nameElement(format.featureName(feature));
    if (Number.isNaN(value)) return make("li", {}, name, " is missing");
    if (model.set[node]) {
      const members = model.everything(feature).members.map((possible, e) => possible & (model.set[node][e] ^ side));
      const parts = [...format.value(feature, value, this.text(value)), " ", ...format.setWords(feature, members)];
      return make("li", {}, name, " = ", ...elementsOf(parts));
    }
    if (model.cut[node] === Infinity) return make("li", {}, name, " is known");
    const [sign, number] = format.boundBeside(model.level[node], side, value);
    return make("li", {}, name, ` = ${this.text(value)} ${SIGNS[sign]} ${number}`);
  }
}

// A field's number, or that of the category it names; an empty field is missing where the tree takes that, and not
// known elsewhere.
function parseValue(text, mayBeMissing, kind = null) {
  const trimmed = text.trim();
  const named = kind && !NUMBER.test(trimmed) ? kind.names.indexOf(trimmed) : -1; // a number is always a code
  if (trimmed && named >= 0) return { value: kind.codes[named], problem: "" };
  if (/^(|nan|na|missing)$/i.test(trimmed)) {
    if (mayBeMissing) return { value: NaN, problem: "" };
    return { value: undefined, problem: trimmed ? "a number is needed" : "" };
  }
  const infinite = /^([+-]?)inf(inity)?$/i.exec(trimmed);
  if (infinite) return { value: infinite[1] === "-" ? -Infinity : Infinity, problem: "" };
  if (NUMBER.test(trimmed)) return { value: Number(trimmed), problem: "" };
  return { value: undefined, problem: trimmed.includes(",") ? "write decimals with a point" : "not a number" };
}
