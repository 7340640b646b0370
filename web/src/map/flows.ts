/** Flows between places: bent to the right, so that both ways of a pair are seen. */

import type { Ordered } from "./classes";
import { seen, type Layer, type Pen } from "./layer";
import { UNCERTAIN, type Scale } from "./scale";
import type { Work } from "./slices";
import type { View } from "./view";

const AT_ONCE = 160;
const BEND = 0.16;
const THINNEST = 0.6;
const WIDEST = 6;
const SHORTEST_PX = 2.5;
// Below this length, nobody sees a bend.
const BENT_PX = 14;

export interface FlowRows {
  readonly origin: Uint32Array;
  readonly destination: Uint32Array;
}

export class FlowLayer implements Layer {
  constructor(
    /** Places in the frame, x and y in turn. */
    private readonly points: Float32Array,
    private readonly rows: FlowRows,
    private readonly ordered: Ordered,
    private readonly scale: Scale,
    private readonly colours: readonly string[],
    private readonly showUncertain: boolean,
  ) {}

  *paint(pen: Pen, view: View): Work {
    pen.lineCap = "round";
    const crowd = Math.min(1, 4000 / Math.max(1, this.rows.origin.length));
    for (const ofClass of this.scale.drawn()) {
      if (ofClass === UNCERTAIN && !this.showUncertain) continue;
      const strength = this.scale.strength(ofClass);
      pen.strokeStyle = this.colours[ofClass];
      pen.lineWidth = ofClass === UNCERTAIN ? THINNEST : widthOf(strength);
      // The more flows there are, the fainter is each of the many small ones.
      const faint = ofClass === UNCERTAIN ? 0.32 : 0.55;
      pen.globalAlpha = Math.max(0.06, faint * crowd ** 0.5 * (1 - strength)) + 0.85 * strength;
      pen.lineCap = pen.lineWidth < 1.5 ? "butt" : "round";
      yield* this.strokeAll(pen, view, ofClass);
    }
    pen.globalAlpha = 1;
  }

  private *strokeAll(pen: Pen, view: View, ofClass: number): Work {
    const [left, top, right, bottom] = seen(view, 20);
    const { order, starts } = this.ordered;
    const { origin, destination } = this.rows;
    const shortest = (SHORTEST_PX / view.pixels) ** 2;
    let pieces = 0;
    let looked = 0;
    pen.beginPath();
    for (let k = starts[ofClass]; k < starts[ofClass + 1]; k++) {
      if (++looked % 20_000 === 0) yield;
      const [from, to] = [2 * origin[order[k]], 2 * destination[order[k]]];
      const [x0, y0] = [this.points[from], this.points[from + 1]];
      const [x1, y1] = [this.points[to], this.points[to + 1]];
      if ((x0 < left && x1 < left) || (x0 > right && x1 > right)) continue;
      if ((y0 < top && y1 < top) || (y0 > bottom && y1 > bottom)) continue;
      if ((x1 - x0) ** 2 + (y1 - y0) ** 2 < shortest) continue;
      curve(pen, view, x0, y0, x1, y1);
      if (++pieces === AT_ONCE) {
        pen.stroke();
        yield;
        pen.beginPath();
        pieces = 0;
      }
    }
    pen.stroke();
    yield;
  }
}

export function widthOf(strength: number): number {
  return THINNEST + (WIDEST - THINNEST) * strength ** 1.6;
}

/** Adds one flow to the path of a pen. */
export function curve(pen: Pen, view: View, x0: number, y0: number, x1: number, y1: number): void {
  const { pixels } = view;
  const [right, down] = [view.width / 2 - view.x * pixels, view.height / 2 - view.y * pixels];
  const [fromX, fromY] = [x0 * pixels + right, y0 * pixels + down];
  const [toX, toY] = [x1 * pixels + right, y1 * pixels + down];
  const [dx, dy] = [toX - fromX, toY - fromY];
  pen.moveTo(fromX, fromY);
  if (Math.abs(dx) + Math.abs(dy) < BENT_PX) pen.lineTo(toX, toY);
  else {
    pen.quadraticCurveTo((fromX + toX) / 2 - BEND * dy, (fromY + toY) / 2 + BEND * dx, toX, toY);
  }
}
