/** Places as points: larger where more is counted. */

import { Grid } from "./grid";
import { seen, type Layer, type Pen } from "./layer";
import { UNCERTAIN } from "./scale";
import type { Work } from "./slices";
import type { View } from "./view";

const AT_ONCE = 400;

/** Finds the place next to a point of the map. */
export class PointIndex {
  private readonly grid: Grid;

  constructor(private readonly points: Float32Array) {
    const boxes = new Float32Array(2 * points.length);
    for (let i = 0; i < points.length; i += 2) {
      boxes.set([points[i], points[i + 1], points[i], points[i + 1]], 2 * i);
    }
    this.grid = new Grid(boxes);
  }

  nearest(x: number, y: number, within: number): number | null {
    let best: number | null = null;
    let least = within * within;
    for (const i of this.grid.near(x, y, within)) {
      const away = (this.points[2 * i] - x) ** 2 + (this.points[2 * i + 1] - y) ** 2;
      if (away <= least) [best, least] = [i, away];
    }
    return best;
  }
}

export interface Dots {
  readonly classes: Uint8Array;
  readonly colours: readonly string[];
  /** Radius in pixels of each class. */
  readonly radii: readonly number[];
}

export class PointLayer implements Layer {
  constructor(
    private readonly points: Float32Array,
    private readonly dots: Dots,
    private readonly halo: string,
  ) {}

  *paint(pen: Pen, view: View): Work {
    const [left, top, right, bottom] = seen(view, 12);
    const { pixels } = view;
    const [shiftX, shiftY] = [view.width / 2 - view.x * pixels, view.height / 2 - view.y * pixels];
    pen.strokeStyle = this.halo;
    pen.lineWidth = 1;
    let drawn = 0;
    for (let i = 0; 2 * i < this.points.length; i++) {
      if (i % 20_000 === 19_999) yield;
      const [x, y] = [this.points[2 * i], this.points[2 * i + 1]];
      if (x < left || x > right || y < top || y > bottom) continue;
      const ofClass = this.dots.classes[i];
      pen.fillStyle = this.dots.colours[ofClass];
      pen.globalAlpha = ofClass === UNCERTAIN ? 0.6 : 1;
      pen.beginPath();
      pen.arc(x * pixels + shiftX, y * pixels + shiftY, this.dots.radii[ofClass], 0, 2 * Math.PI);
      pen.fill();
      pen.stroke();
      if (++drawn % AT_ONCE === 0) yield;
    }
    pen.globalAlpha = 1;
  }
}
