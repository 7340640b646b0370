/** Areas filled by class, with hatching where the count is too uncertain. */

import type { Shapes } from "../shared/atlas";
import type { Palette } from "./colours";
import type { Frame } from "./frame";
import { Grid, boxesOf } from "./grid";
import { seen, type Layer, type Pen } from "./layer";
import { UNCERTAIN } from "./scale";
import type { View } from "./view";
import type { Work } from "./slices";

const AT_ONCE = 40;
const FAINT = 0.3;

/** Shapes of places in a frame, with what finds the place at a point. */
export class Outlines {
  readonly points: Float32Array;
  readonly ringStarts: Uint32Array;
  /** Rings of a place: order[starts[place]] to order[starts[place + 1]]. */
  private readonly order: Uint32Array;
  private readonly starts: Uint32Array;
  readonly boxes: Float32Array;
  private readonly grid: Grid;

  constructor(frame: Frame, shapes: Shapes, readonly places: number) {
    this.points = frame.projectAll(shapes.lon, shapes.lat);
    this.ringStarts = shapes.ringStarts;
    this.starts = new Uint32Array(places + 1);
    for (const place of shapes.placeOfRing) this.starts[place + 1]++;
    for (let i = 0; i < places; i++) this.starts[i + 1] += this.starts[i];
    const next = this.starts.slice();
    this.order = new Uint32Array(shapes.placeOfRing.length);
    shapes.placeOfRing.forEach((place, ring) => {
      this.order[next[place]++] = ring;
    });
    const ofRings = boxesOf(this.points, this.ringStarts);
    this.boxes = new Float32Array(4 * places);
    for (let place = 0; place < places; place++) {
      let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
      for (const ring of this.rings(place)) {
        left = Math.min(left, ofRings[4 * ring]);
        top = Math.min(top, ofRings[4 * ring + 1]);
        right = Math.max(right, ofRings[4 * ring + 2]);
        bottom = Math.max(bottom, ofRings[4 * ring + 3]);
      }
      this.boxes.set([left, top, right, bottom], 4 * place);
    }
    this.grid = new Grid(this.boxes);
  }

  rings(place: number): Uint32Array {
    return this.order.subarray(this.starts[place], this.starts[place + 1]);
  }

  /** Adds a place to the path of a pen. */
  trace(pen: Pen, view: View, place: number): void {
    const { pixels, width, height } = view;
    const [right, down] = [width / 2 - view.x * pixels, height / 2 - view.y * pixels];
    for (const ring of this.rings(place)) {
      const [from, to] = [this.ringStarts[ring], this.ringStarts[ring + 1]];
      let [lastX, lastY] = [NaN, NaN];
      for (let k = from; k < to; k++) {
        const x = this.points[2 * k] * pixels + right;
        const y = this.points[2 * k + 1] * pixels + down;
        if (k === from) pen.moveTo(x, y);
        else if (k === to - 1 || Math.abs(x - lastX) + Math.abs(y - lastY) > 0.7) pen.lineTo(x, y);
        else continue;
        [lastX, lastY] = [x, y];
      }
      pen.closePath();
    }
  }

  /** The place whose area holds a point. */
  at(x: number, y: number): number | null {
    for (const place of this.grid.near(x, y, 0)) if (this.holds(place, x, y)) return place;
    return null;
  }

  private holds(place: number, x: number, y: number): boolean {
    let inside = false;
    for (const ring of this.rings(place)) {
      const [from, to] = [this.ringStarts[ring], this.ringStarts[ring + 1]];
      for (let k = from, before = to - 1; k < to; before = k++) {
        const [x0, y0] = [this.points[2 * before], this.points[2 * before + 1]];
        const [x1, y1] = [this.points[2 * k], this.points[2 * k + 1]];
        if (y0 > y !== y1 > y && x < ((x1 - x0) * (y - y0)) / (y1 - y0) + x0) inside = !inside;
      }
    }
    return inside;
  }
}

export interface Fills {
  readonly classes: Uint8Array;
  /** The class that an uncertain count would have: a hint of its colour stays. */
  readonly faint: Uint8Array;
  readonly published: Uint8Array;
  readonly colours: readonly string[];
}

/** Areas of one period; without classes they are plain ground under something else. */
export class AreaLayer implements Layer {
  constructor(
    private readonly outlines: Outlines,
    private readonly palette: Palette,
    private readonly filled: Fills | null,
  ) {}

  *paint(pen: Pen, view: View): Work {
    const [left, top, right, bottom] = seen(view, 4);
    const { boxes } = this.outlines;
    const hatching = this.filled === null ? null : hatch(pen, this.palette.uncertain);
    const ground = this.palette.scheme === "light" ? "#e9e7e0" : "#1b212a";
    pen.strokeStyle = this.palette.border;
    pen.lineWidth = this.filled === null ? 1 : 0.8;
    for (let place = 0; place < this.outlines.places; place++) {
      if (place % AT_ONCE === AT_ONCE - 1) yield;
      const at = 4 * place;
      if (boxes[at] > right || boxes[at + 2] < left) continue;
      if (boxes[at + 1] > bottom || boxes[at + 3] < top) continue;
      const filled = this.filled?.published[place] ? this.filled : null;
      const dim = filled !== null && filled.classes[place] === UNCERTAIN;
      const colour =
        filled === null ? ground : filled.colours[dim ? filled.faint[place] : filled.classes[place]];
      pen.beginPath();
      this.outlines.trace(pen, view, place);
      pen.globalAlpha = dim ? FAINT : 1;
      pen.fillStyle = colour;
      pen.fill("evenodd");
      pen.globalAlpha = 1;
      if (dim && hatching) {
        pen.fillStyle = hatching;
        pen.fill("evenodd");
      }
      pen.stroke();
    }
  }
}

const hatchings = new Map<string, HTMLCanvasElement>();

/** Thin slanted lines: uncertainty is seen without seeing colours. */
function hatch(pen: Pen, colour: string): CanvasPattern | null {
  let tile = hatchings.get(colour);
  if (tile === undefined) {
    tile = document.createElement("canvas");
    tile.width = tile.height = 6;
    const small = tile.getContext("2d");
    if (small) {
      small.strokeStyle = colour;
      small.globalAlpha = 0.75;
      small.lineWidth = 1;
      small.beginPath();
      for (const shift of [-6, 0, 6]) {
        small.moveTo(shift - 1, 7);
        small.lineTo(shift + 7, -1);
      }
      small.stroke();
    }
    hatchings.set(colour, tile);
  }
  return pen.createPattern(tile, "repeat");
}
