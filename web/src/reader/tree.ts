/** Which sequences go on from which, so that a tree is unfolded branch by branch. */

import type { Tree } from "../shared/atlas";

export class Branches {
  private readonly starts: Uint32Array;
  private readonly order: Uint32Array;

  constructor(private readonly tree: Tree) {
    const rows = tree.parent.length;
    this.starts = new Uint32Array(rows + 2);
    for (const parent of tree.parent) this.starts[parent + 2]++;
    for (let i = 0; i <= rows; i++) this.starts[i + 1] += this.starts[i];
    const next = this.starts.slice();
    this.order = new Uint32Array(rows);
    tree.parent.forEach((parent, row) => {
      this.order[next[parent + 1]++] = row;
    });
  }

  /** Rows that go on from a row; from the root if it is -1. */
  below(row: number): Uint32Array {
    return this.order.subarray(this.starts[row + 1], this.starts[row + 2]);
  }

  /** The places of a sequence, from its first stop on. */
  path(row: number): number[] {
    const found: number[] = [];
    for (let at = row; at >= 0; at = this.tree.parent[at]) found.push(this.tree.place[at]);
    return found.reverse();
  }

  /** The row of the sequence that is a single stop. */
  beginningAt(place: number): number | null {
    for (const row of this.below(-1)) if (this.tree.place[row] === place) return row;
    return null;
  }
}
