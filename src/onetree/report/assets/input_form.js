// The form in which an input is typed, or picked from the data, and followed to its leaf.

const MOST_STEPS = 200; // listed
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

class InputForm {
  constructor(model, format, onFollow, onClear) {
    this.model = model;
    this.format = format;
    this.onFollow = onFollow;
    this.onClear = onClear;
    this.fields = new Map();
    for (const feature of model.tested) byId("fields").append(this.field(feature));
    const rest = model.data.features.length - model.tested.length;
    byId("fields-note").textContent = this.note(rest);
    byId("follow").addEventListener("submit", (event) => {
      event.preventDefault();
      this.follow();
    });
    byId("clear").addEventListener("click", () => this.clear());
    if (model.data.rows?.n_shown) this.addRowPicker(model.data.rows);
  }

  note(rest) {
    const notes = [];
    if (!this.model.tested.length) notes.push("The tree tests nothing: every input has the same class.");
    else if (rest) notes.push(`The other ${plural(rest, "feature")} never matter${rest === 1 ? "s" : ""}.`);
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
    input.addEventListener("input", () => this.complain(feature, ""));
    this.fields.set(feature, input);
    const problem = make("span", { id: `${id}-problem`, className: "problem" });
    input.setAttribute("aria-describedby", problem.id);
    const label = make("label", { for: id }, nameElement(this.format.featureName(feature)));
    return make("div", { className: "field" }, label, input, problem);
  }

  addRowPicker({ n_rows: nRows, n_shown: nShown }) {
    const number = byId("row-number");
    const pick = (row) => {
      number.value = Math.min(nShown, Math.max(1, row || 1));
      this.fill(this.model.rowValues(number.value - 1));
      this.follow();
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
    this.onClear();
  }

  complain(feature, problem) {
    const input = this.fields.get(feature);
    input.setAttribute("aria-invalid", problem !== "");
    byId(`field-${feature}-problem`).textContent = problem;
  }

  // The input as typed, or null if a field is no number.
  read() {
    const values = [];
    let broken = null;
    for (const [feature, input] of this.fields) {
      const { value, problem } = parseValue(input.value, this.model.data.nan_features[feature], this.model.kinds[feature]);
      this.complain(feature, problem);
      if (problem) broken ??= input;
      else values[feature] = value;
    }
    broken?.focus();
    return broken ? null : values;
  }

  follow() {
    const values = this.read();
    if (!values) return;
    const { path, node } = this.model.follow(values);
    this.tell(path, node, values);
    this.onFollow(path);
  }

  tell(path, node, values) {
    const { model, format } = this;
    const prediction = byId("prediction");
    if (model.isLeaf(node)) {
      prediction.replaceChildren("Prediction: ", format.chip(model.classOf(node)));
    } else if (model.isCutOff(node)) {
      prediction.replaceChildren("The path goes on where this file ends. Use the tree itself to predict.");
    } else {
      const feature = model.feature[node];
      prediction.replaceChildren("The next split needs ", nameElement(format.featureName(feature)), ".");
      this.complain(feature, "needed");
      this.fields.get(feature).focus();
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
      return make("li", {}, name, " = ", ...parts);
    }
    if (model.cut[node] === Infinity) return make("li", {}, name, " is known");
    const level = format.levelBeside(feature, model.cut[node], value);
    return make("li", {}, name, ` = ${this.text(value)} ${side ? ">" : "≤"} ${level}`);
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
