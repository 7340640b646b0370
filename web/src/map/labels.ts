/** Names of the larger places, where they do not hide each other. */

import type { Atlas } from "../shared/atlas";
import type { Palette } from "./colours";
import type { Layer, Pen } from "./layer";
import type { Work } from "./slices";
import { toScreen, type View } from "./view";

const MOST_LABELS = 30;
// Smaller places are tried until so many had no room: a crowd of them changes nothing.
const MOST_TRIED = 400;
const LONGEST_NAME = 26;
const LARGE_PX = 13;
const SMALL_PX = 11;
const FEW_LARGE = 8;
const ROOM_PX = 5;
const ABOVE_PX = 9;

export interface Label {
  readonly name: string;
  readonly left: number;
  readonly top: number;
  readonly px: number;
}

/** Places in the order of what is published of them, the largest first; those without are left out. */
export function bySize({ places, totals, flows, tree, periods }: Atlas): Uint32Array {
  const size = new Float64Array(places.ids.length);
  const add = (at: number, count: number): void => {
    if (count > 0) size[at] += count;
  };
  if (totals) totals.count.forEach((count, i) => add(Math.floor(i / periods.length), count));
  else if (flows) {
    flows.origin.forEach((from, i) => add(from, flows.count[i]));
    flows.destination.forEach((to, i) => add(to, flows.count[i]));
  } else if (tree) tree.place.forEach((place, i) => add(place, tree.count[i]));
  const order = Uint32Array.from(size.keys()).filter((place) => size[place] > 0);
  return order.sort((a, b) => size[b] - size[a] || a - b);
}

/** Chooses labels, the largest places first, each where no earlier one is. */
export function chosen(
  order: Uint32Array,
  names: readonly string[],
  points: Float32Array,
  view: View,
  widthOf: (name: string, px: number) => number,
): Label[] {
  const labels: Label[] = [];
  const taken: [number, number, number, number][] = [];
  let tried = 0;
  for (const place of order) {
    if (labels.length === MOST_LABELS || tried === MOST_TRIED) break;
    const [x, y] = toScreen(view, points[2 * place], points[2 * place + 1]);
    if (x < 0 || y < 0 || x > view.width || y > view.height || !names[place].trim()) continue;
    tried++;
    const px = labels.length < FEW_LARGE ? LARGE_PX : SMALL_PX;
    const name = names[place].length > LONGEST_NAME ? `${names[place].slice(0, LONGEST_NAME - 1)}…` : names[place];
    const [half, top] = [widthOf(name, px) / 2 + ROOM_PX, y - ABOVE_PX - px];
    const box: [number, number, number, number] = [x - half, top - ROOM_PX / 2, x + half, top + px + ROOM_PX];
    if (taken.some((one) => box[0] < one[2] && box[2] > one[0] && box[1] < one[3] && box[3] > one[1])) continue;
    taken.push(box);
    labels.push({ name, left: x, top, px });
  }
  return labels;
}

export class LabelLayer implements Layer {
  constructor(
    private readonly order: Uint32Array,
    private readonly names: readonly string[],
    private readonly points: Float32Array,
    private readonly palette: Palette,
  ) {}

  *paint(pen: Pen, view: View): Work {
    const font = (px: number): string => `${px === LARGE_PX ? 600 : 500} ${px}px system-ui, sans-serif`;
    const widthOf = (name: string, px: number): number => {
      pen.font = font(px);
      return pen.measureText(name).width;
    };
    const labels = chosen(this.order, this.names, this.points, view, widthOf);
    pen.textAlign = "center";
    pen.textBaseline = "top";
    pen.lineJoin = "round";
    pen.lineWidth = 3;
    pen.strokeStyle = this.palette.halo;
    pen.fillStyle = this.palette.ink;
    for (const { name, left, top, px } of labels) {
      pen.font = font(px);
      pen.strokeText(name, left, top);
      pen.fillText(name, left, top);
    }
    yield;
  }
}
