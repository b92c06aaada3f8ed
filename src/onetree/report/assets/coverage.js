// How many rows of the data reach each place of the tree, of which classes. Touches no document.
//
// A place with rows has a number from 0, the root, on. Where no row goes the number is NOWHERE; where nobody counted,
// because there are no data or the file ends, it is UNCOUNTED.

const [NOWHERE, UNCOUNTED] = [-1, -2];

class Coverage {
  constructor({ n_rows: nRows, of, left, right, ends, spreads }, nClasses) {
    this.nRows = nRows;
    this.of = of; // whose classes are counted
    this.nClasses = nClasses;
    this.sides = [left, right];
    this.counts = new Float64Array(left.length * nClasses);
    this.rows = new Float64Array(left.length);
    this.spreads = new Map(spreads.map(([at, bins, left, low, high, counts]) => [at, { bins, left, low, high, counts }]));
    let end = ends.length;
    for (let at = left.length - 1; at >= 0; at--) { // children come after their parents
      if (this.isEnd(at)) {
        const pairs = ends[--end];
        for (let i = 0; i < pairs.length; i += 2) this.counts[at * nClasses + pairs[i]] = pairs[i + 1];
      } else {
        for (const child of [left[at], right[at]]) {
          if (child) for (let k = 0; k < nClasses; k++) this.counts[at * nClasses + k] += this.counts[child * nClasses + k];
        }
      }
      for (let k = 0; k < nClasses; k++) this.rows[at] += this.counts[at * nClasses + k];
    }
  }

  isEnd(at) {
    return !this.sides[0][at] && !this.sides[1][at];
  }

  child(at, side) {
    if (at < 0) return at;
    return this.sides[side][at] || (this.isEnd(at) ? UNCOUNTED : NOWHERE);
  }

  // Rows of each class at a place.
  classes(at) {
    return at < 0 ? new Float64Array(this.nClasses) : this.counts.subarray(at * this.nClasses, (at + 1) * this.nClasses);
  }

  // The places where rows end, those with the most rows first.
  endsByRows() {
    const ends = [];
    for (let at = 0; at < this.rows.length; at++) if (this.isEnd(at)) ends.push(at);
    return ends.sort((a, b) => this.rows[b] - this.rows[a] || a - b);
  }

  pathTo(at) {
    this.parents ??= this.findParents();
    const path = [];
    for (; at > 0; at = this.parents[at]) path.push(this.sides[0][this.parents[at]] === at ? 0 : 1);
    return path.reverse();
  }

  findParents() {
    const parents = new Int32Array(this.rows.length);
    for (const side of this.sides) side.forEach((child, at) => child && (parents[child] = at));
    return parents;
  }

  // The number of a place given by its path.
  atPath(path) {
    return path.reduce((at, side) => this.child(at, side), 0);
  }
}
