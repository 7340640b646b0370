/** Ground under a map: water and lines of public files, for orientation only. */

import { AtlasError, finite, list, object, text } from "../shared/columns";
import type { Palette } from "./colours";
import type { Frame } from "./frame";
import { boxesOf } from "./grid";
import { seen, type Layer, type Pen } from "./layer";
import type { Work } from "./slices";
import type { View } from "./view";

/** From the bottom up. */
const KINDS = ["water", "river", "line", "road", "transit"] as const;
type Kind = (typeof KINDS)[number];

// What hushway writes has a tenth of it.
const MOST_POINTS = 200_000;
const AT_ONCE = 150;
const WIDTHS: Record<Kind, number> = { water: 0, river: 1.3, line: 0.9, road: 1.1, transit: 1.5 };

/** Lines or rings of one kind, x and y in turn in a frame. */
interface Part {
  readonly kind: Kind;
  readonly points: Float32Array;
  readonly starts: Uint32Array;
  readonly boxes: Float32Array;
}

/** What a file of ground says, read strictly: a list of lines for each kind. */
export type Background = readonly (readonly [Kind, readonly (readonly [number, number])[][]])[];

export function readBackground(value: unknown): Background {
  let left = MOST_POINTS;
  const point = (one: unknown): [number, number] => {
    const [lon, lat] = list(one, "ground", 2);
    if (left-- <= 0) throw new AtlasError(`The ground has more than ${MOST_POINTS} points.`);
    return [finite(lon, "ground", -180, 180), finite(lat, "ground", -90, 90)];
  };
  const lines = (one: unknown): [number, number][][] =>
    list(one, "ground", MOST_POINTS).map((line) => list(line, "ground", MOST_POINTS).map(point));
  return list(object(value, "ground")["features"], "ground", KINDS.length).map((feature) => {
    const facts = object(feature, "ground");
    const name = text(object(facts["properties"], "ground")["kind"], "ground", 20);
    const kind = KINDS.find((one) => one === name);
    if (kind === undefined) throw new AtlasError("The ground is of a kind that this page cannot draw.");
    const drawn = object(facts["geometry"], "ground")["coordinates"];
    return [kind, kind === "water" ? list(drawn, "ground", MOST_POINTS).flatMap(lines) : lines(drawn)];
  });
}

/** Ground in a frame, projected once. */
export function placed(frame: Frame, background: Background): Part[] {
  return background.map(([kind, lines]) => {
    const flat = lines.flat();
    const points = frame.projectAll(
      Float64Array.from(flat, ([lon]) => lon),
      Float64Array.from(flat, ([, lat]) => lat),
    );
    const starts = new Uint32Array(lines.length + 1);
    lines.forEach((line, i) => (starts[i + 1] = starts[i] + line.length));
    return { kind, points, starts, boxes: boxesOf(points, starts) };
  });
}

export class GroundLayer implements Layer {
  constructor(
    private readonly parts: readonly Part[],
    private readonly palette: Palette,
    /** Water would hide areas that are filled by their counts; lines do not. */
    private readonly withWater: boolean,
  ) {}

  *paint(pen: Pen, view: View): Work {
    pen.lineJoin = "round";
    for (const part of this.parts) {
      const water = part.kind === "water";
      if (water && !this.withWater) continue;
      pen.fillStyle = pen.strokeStyle = this.colourOf(part.kind);
      pen.globalAlpha = this.withWater ? 1 : 0.6;
      pen.lineWidth = WIDTHS[part.kind];
      yield* trace(pen, view, part, () => (water ? pen.fill("evenodd") : pen.stroke()));
    }
    pen.globalAlpha = 1;
  }

  private colourOf(kind: Kind): string {
    if (kind === "water" || kind === "river") return this.palette.water;
    return kind === "transit" ? this.palette.transit : this.palette.road;
  }
}

/** Draws a part; holes of water and the water around them are one path. */
function* trace(pen: Pen, view: View, { kind, points, starts, boxes }: Part, draw: () => void): Work {
  const [left, top, right, bottom] = seen(view, 4);
  const { pixels } = view;
  const [shiftX, shiftY] = [view.width / 2 - view.x * pixels, view.height / 2 - view.y * pixels];
  pen.beginPath();
  for (let line = 0; line + 1 < starts.length; line++) {
    const at = 4 * line;
    if (boxes[at] > right || boxes[at + 2] < left) continue;
    if (boxes[at + 1] > bottom || boxes[at + 3] < top) continue;
    for (let k = starts[line]; k < starts[line + 1]; k++) {
      const [x, y] = [points[2 * k] * pixels + shiftX, points[2 * k + 1] * pixels + shiftY];
      if (k === starts[line]) pen.moveTo(x, y);
      else pen.lineTo(x, y);
    }
    if (kind !== "water" && line % AT_ONCE === AT_ONCE - 1) {
      draw();
      yield;
      pen.beginPath();
    }
  }
  draw();
  yield;
}
