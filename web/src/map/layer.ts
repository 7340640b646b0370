import type { View } from "./view";
import type { Work } from "./slices";

export type Pen = CanvasRenderingContext2D;

/** Something that is drawn on the map, piece by piece. */
export interface Layer {
  paint(pen: Pen, view: View): Work;
}

/** The part of the frame that is seen: left, top, right, bottom, with some pixels around. */
export function seen(view: View, around: number): [number, number, number, number] {
  const [dx, dy] = [
    (view.width / 2 + around) / view.pixels,
    (view.height / 2 + around) / view.pixels,
  ];
  return [view.x - dx, view.y - dy, view.x + dx, view.y + dy];
}
