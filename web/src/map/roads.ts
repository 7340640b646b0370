/** Road links: all of them faintly, and those with a count by class. */

import type { Links } from "../shared/atlas";
import type { Ordered } from "./classes";
import type { Frame } from "./frame";
import { Grid, boxesOf, squaredDistance } from "./grid";
import { seen, type Layer, type Pen } from "./layer";
import { UNCERTAIN, type Scale } from "./scale";
import type { Work } from "./slices";
import type { View } from "./view";

const AT_ONCE = 120;
const SMALLEST_PX = 1.2;
const LOWEST_RANK = 4;
const FULL_WIDTH_PX = 14;

/** Lines of links in a frame, with what finds the link at a point. */
export class Lines {
  readonly points: Float32Array;
  readonly boxes: Float32Array;
  readonly starts: Uint32Array;
  readonly rank: Uint8Array;
  /** How long a link usually is. */
  readonly typical: number;
  private readonly grid: Grid;

  constructor(frame: Frame, links: Links) {
    this.points = frame.projectAll(links.lon, links.lat);
    this.starts = links.starts;
    this.rank = links.rank;
    this.boxes = boxesOf(this.points, this.starts);
    this.grid = new Grid(this.boxes);
    let sum = 0;
    for (let i = 0; i < this.boxes.length; i += 4) {
      const long = this.boxes[i + 2] - this.boxes[i] + this.boxes[i + 3] - this.boxes[i + 1];
      if (Number.isFinite(long)) sum += long;
    }
    this.typical = (4 * sum) / Math.max(1, this.boxes.length);
  }

  nearest(x: number, y: number, within: number): number | null {
    let best: number | null = null;
    let least = within * within;
    for (const link of this.grid.near(x, y, within)) {
      for (let k = this.starts[link]; k + 1 < this.starts[link + 1]; k++) {
        const [x0, y0, x1, y1] = this.points.subarray(2 * k, 2 * k + 4);
        const away = squaredDistance(x, y, x0, y0, x1, y1);
        if (away < least) [best, least] = [link, away];
      }
    }
    return best;
  }

  /** Adds a link to the path of a pen. */
  trace(pen: Pen, view: View, link: number): void {
    const { pixels } = view;
    const [right, down] = [view.width / 2 - view.x * pixels, view.height / 2 - view.y * pixels];
    const last = this.starts[link + 1] - 1;
    let [lastX, lastY] = [NaN, NaN];
    for (let k = this.starts[link]; k <= last; k++) {
      const x = this.points[2 * k] * pixels + right;
      const y = this.points[2 * k + 1] * pixels + down;
      if (k === this.starts[link]) pen.moveTo(x, y);
      else if (k === last || Math.abs(x - lastX) + Math.abs(y - lastY) > 1) pen.lineTo(x, y);
      else continue;
      [lastX, lastY] = [x, y];
    }
  }

  /** Strokes many links, some at once. */
  *strokeAll(pen: Pen, view: View, links: Iterable<number>, smallest: number): Work {
    const [left, top, right, bottom] = seen(view, 8);
    const least = smallest / view.pixels;
    let pieces = 0;
    let looked = 0;
    pen.beginPath();
    for (const link of links) {
      if (++looked % 20_000 === 0) yield;
      const at = 4 * link;
      if (this.boxes[at] > right || this.boxes[at + 2] < left) continue;
      if (this.boxes[at + 1] > bottom || this.boxes[at + 3] < top) continue;
      const long = this.boxes[at + 2] - this.boxes[at] + this.boxes[at + 3] - this.boxes[at + 1];
      if (long < least) continue;
      this.trace(pen, view, link);
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

/** Every road, as thin as its rank asks: the ground on which counts are read. */
export class RoadLayer implements Layer {
  private readonly byRank: number[][];

  constructor(
    private readonly lines: Lines,
    private readonly colour: string,
  ) {
    this.byRank = Array.from({ length: LOWEST_RANK + 1 }, () => []);
    lines.rank.forEach((rank, link) => this.byRank[Math.min(rank, LOWEST_RANK)].push(link));
  }

  *paint(pen: Pen, view: View): Work {
    pen.strokeStyle = this.colour;
    pen.lineCap = "butt";
    pen.lineJoin = "round";
    for (let rank = LOWEST_RANK; rank >= 0; rank--) {
      pen.lineWidth = 2.2 / (1 + 0.7 * rank);
      yield* this.lines.strokeAll(pen, view, this.byRank[rank], SMALLEST_PX);
    }
  }
}

export class LinkLayer implements Layer {
  constructor(
    private readonly lines: Lines,
    private readonly link: Uint32Array,
    private readonly ordered: Ordered,
    private readonly scale: Scale,
    private readonly colours: readonly string[],
    private readonly showUncertain: boolean,
  ) {}

  *paint(pen: Pen, view: View): Work {
    pen.lineCap = "round";
    pen.lineJoin = "round";
    // From far away links are short, and lines as wide as they are long would be blots.
    const far = Math.min(1, Math.max(0.3, (this.lines.typical * view.pixels) / FULL_WIDTH_PX));
    for (const ofClass of this.scale.drawn()) {
      if (ofClass === UNCERTAIN && !this.showUncertain) continue;
      pen.strokeStyle = this.colours[ofClass];
      pen.globalAlpha = ofClass === UNCERTAIN ? 0.55 : 1;
      pen.lineWidth = ofClass === UNCERTAIN ? 0.8 : far * (1.2 + 4 * this.scale.strength(ofClass) ** 1.5);
      pen.lineCap = pen.lineWidth < 2 ? "butt" : "round";
      yield* this.lines.strokeAll(pen, view, this.linksOf(ofClass), 0.5);
    }
    pen.globalAlpha = 1;
  }

  private *linksOf(ofClass: number): Iterable<number> {
    const { order, starts } = this.ordered;
    for (let k = starts[ofClass]; k < starts[ofClass + 1]; k++) yield this.link[order[k]];
  }
}
