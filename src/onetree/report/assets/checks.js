// What was asked of the model beside its tree: each check with its answer, and the inputs that decide it.

const CHECKED = {
  proven: ["good", "Proven"],
  refuted: ["bad", "Refuted"],
  open: ["open", "Not decided"],
};

function showChecks({ data }, format, followPoint) {
  if (!data.checks.length) return;
  byId("checks-section").hidden = false;
  byId("checks").append(...data.checks.map((check) => checkCard(check, format, followPoint)));
}

function checkCard({ claim, state, rows, witness, same, classes }, format, followPoint) {
  const card = make("article", { className: "card" });
  card.append(make("h3", { textContent: claim[0].toUpperCase() + claim.slice(1) }), badge(...CHECKED[state]));
  if (rows) {
    const [holds, fails, open] = rows;
    const all = holds + fails + open;
    const rest = open ? ` Not decided for ${formatCount(open)}.` : "";
    const text = `Holds for ${formatCount(holds)} of ${plural(all, "row")} (${formatShare(holds, all)}).${rest}`;
    card.append(make("p", { textContent: text }));
  }
  if (!witness) return card;
  const [one, other] = witness.map((input) => input.map(toNumber));
  const shown = (feature, value) => (Number.isNaN(value) ? ["missing"] : elementsOf(format.value(feature, value, String(value))));
  if (!same) {
    const body = make("tbody");
    one.forEach((value, feature) => {
      if (Object.is(value, other[feature])) return;
      const name = make("th", { scope: "row" }, nameElement(format.featureName(feature)));
      body.append(make("tr", {}, name, ...[value, other[feature]].map((x) => make("td", {}, ...shown(feature, x)))));
    });
    const decision = classes.map((label) => make("td", {}, make("strong", { textContent: label })));
    body.append(make("tr", {}, make("th", { scope: "row", textContent: "class" }), ...decision));
    card.append(make("table", {}, headerRow("", "one input", "the other"), body));
  }
  const buttons = same ? [["Follow such an input", one]] : [["Follow the one", one], ["Follow the other", other]];
  const row = buttons.map(([text, input]) => makeButton(text, () => followPoint(input)));
  card.append(make("div", { className: "buttons" }, ...row));
  return card;
}
