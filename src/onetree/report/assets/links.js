// Links to a place: #node-12 is node 12 of the tree, #path-yn the place that the answers yes and no lead to. The second
// kind is for places whose node several paths share.

class Links {
  constructor(model, places) {
    Object.assign(this, { model, places });
    addEventListener("hashchange", () => this.follow());
  }

  hashOf(place) {
    const number = this.model.data.nodes.number[place.node];
    const path = place.path();
    const first = this.model.pathToNode(number);
    const same = first.length === path.length && first.every((side, i) => side === path[i]);
    return same ? `#node-${number}` : `#path-${path.map((side) => (side ? "n" : "y")).join("")}`;
  }

  address(place) {
    return location.href.replace(/#.*$/, "") + this.hashOf(place);
  }

  // Writes the place into the address, so that copying that is enough.
  remember(place) {
    history.replaceState(null, "", this.hashOf(place));
  }

  // Shows what the address names; returns whether it names anything.
  follow() {
    const path = this.read(location.hash);
    if (path) this.places.show(path);
    return path !== null;
  }

  read(hash) {
    const node = /^#node-(\d+)$/.exec(hash);
    if (node) return this.model.pathToNode(Number(node[1]));
    const steps = /^#path-([yn]*)$/.exec(hash);
    if (!steps) return null;
    const path = Array.from(steps[1], (letter) => (letter === "n" ? 1 : 0));
    let at = 0;
    for (const side of path) {
      if (!this.model.hasChildren(at)) return null;
      at = this.model.child(at, side);
    }
    return path;
  }
}
