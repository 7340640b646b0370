/** Finds what is near a point without looking at everything. */

// What covers more cells than this is kept in a list of its own, so that no set of boxes, however
// strange, fills the memory.
const MOST_CELLS = 256;

export class Grid {
  private readonly cells: Uint32Array;
  private readonly starts: Uint32Array;
  private readonly everywhere: number[] = [];
  private readonly side: number;
  private left = Infinity;
  private top = Infinity;
  private right = -Infinity;
  private bottom = -Infinity;

  /** Boxes are left, top, right, bottom in turn. */
  constructor(private readonly boxes: Float32Array) {
    const count = boxes.length / 4;
    for (let i = 0; i < boxes.length; i += 4) {
      this.left = Math.min(this.left, boxes[i]);
      this.top = Math.min(this.top, boxes[i + 1]);
      this.right = Math.max(this.right, boxes[i + 2]);
      this.bottom = Math.max(this.bottom, boxes[i + 3]);
    }
    this.side = Math.max(1, Math.min(512, Math.ceil(Math.sqrt(count))));
    const size = this.side * this.side;
    this.starts = new Uint32Array(size + 1);
    for (let i = 0; i < count; i++) {
      const [c0, r0, c1, r1] = this.reach(i);
      if ((c1 - c0 + 1) * (r1 - r0 + 1) > MOST_CELLS) {
        this.everywhere.push(i);
        continue;
      }
      for (let r = r0; r <= r1; r++) for (let c = c0; c <= c1; c++) this.starts[r * this.side + c + 1]++;
    }
    for (let i = 0; i < size; i++) this.starts[i + 1] += this.starts[i];
    this.cells = new Uint32Array(this.starts[size]);
    const next = this.starts.slice();
    const large = new Set(this.everywhere);
    for (let i = 0; i < count; i++) {
      if (large.has(i)) continue;
      const [c0, r0, c1, r1] = this.reach(i);
      for (let r = r0; r <= r1; r++)
        for (let c = c0; c <= c1; c++) this.cells[next[r * this.side + c]++] = i;
    }
  }

  /** Every box within a distance of a point, each once. */
  near(x: number, y: number, distance: number): number[] {
    const found = new Set<number>();
    const take = (i: number): void => {
      const [left, top, right, bottom] = this.boxes.subarray(4 * i, 4 * i + 4);
      if (x >= left - distance && x <= right + distance && y >= top - distance && y <= bottom + distance)
        found.add(i);
    };
    this.everywhere.forEach(take);
    const [c0, r0] = this.cellAt(x - distance, y - distance);
    const [c1, r1] = this.cellAt(x + distance, y + distance);
    for (let r = r0; r <= r1; r++) {
      for (let c = c0; c <= c1; c++) {
        const at = r * this.side + c;
        for (let k = this.starts[at]; k < this.starts[at + 1]; k++) take(this.cells[k]);
      }
    }
    return [...found];
  }

  private reach(i: number): [number, number, number, number] {
    const [left, top, right, bottom] = this.boxes.subarray(4 * i, 4 * i + 4);
    return [...this.cellAt(left, top), ...this.cellAt(right, bottom)];
  }

  private cellAt(x: number, y: number): [number, number] {
    const inside = (part: number): number =>
      Math.max(0, Math.min(this.side - 1, Math.floor(part * this.side) || 0));
    return [
      inside((x - this.left) / (this.right - this.left || 1)),
      inside((y - this.top) / (this.bottom - this.top || 1)),
    ];
  }
}

/** The box around each part of a list of points (x and y in turn). */
export function boxesOf(points: Float32Array, starts: Uint32Array): Float32Array {
  const boxes = new Float32Array(4 * (starts.length - 1));
  for (let i = 0; i + 1 < starts.length; i++) {
    let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
    for (let k = starts[i]; k < starts[i + 1]; k++) {
      left = Math.min(left, points[2 * k]);
      right = Math.max(right, points[2 * k]);
      top = Math.min(top, points[2 * k + 1]);
      bottom = Math.max(bottom, points[2 * k + 1]);
    }
    boxes.set([left, top, right, bottom], 4 * i);
  }
  return boxes;
}

/** The square of the distance from a point to a piece of a line. */
export function squaredDistance(
  x: number,
  y: number,
  x0: number,
  y0: number,
  x1: number,
  y1: number,
): number {
  const [dx, dy] = [x1 - x0, y1 - y0];
  const length = dx * dx + dy * dy;
  const part = length > 0 ? Math.max(0, Math.min(1, ((x - x0) * dx + (y - y0) * dy) / length)) : 0;
  return (x - x0 - part * dx) ** 2 + (y - y0 - part * dy) ** 2;
}
