/** What part of a frame is seen: a centre, and how many pixels a unit is long. */

import type { Frame } from "./frame";

export interface View {
  readonly x: number;
  readonly y: number;
  readonly pixels: number;
  readonly width: number;
  readonly height: number;
}

const DEEPEST_ZOOM = 20;
const ROOM = 0.92;

export function fitted(frame: Frame, width: number, height: number): View {
  const pixels = ROOM * Math.min(width / frame.width, height / frame.height);
  return { x: 0, y: 0, pixels: Math.max(pixels, 1), width, height };
}

/** The view in a window of another size: everything, if everything is seen now, or else the same part. */
export function resized(frame: Frame, view: View | null, width: number, height: number): View {
  const all = view && fitted(frame, view.width, view.height);
  const everything = !all || (all.x === view.x && all.y === view.y && all.pixels === view.pixels);
  return everything ? fitted(frame, width, height) : { ...view, width, height };
}

export function toScreen(view: View, x: number, y: number): [number, number] {
  return [
    (x - view.x) * view.pixels + view.width / 2,
    (y - view.y) * view.pixels + view.height / 2,
  ];
}

export function fromScreen(view: View, left: number, top: number): [number, number] {
  return [
    (left - view.width / 2) / view.pixels + view.x,
    (top - view.height / 2) / view.pixels + view.y,
  ];
}

export function panned(frame: Frame, view: View, right: number, down: number): View {
  return kept(frame, {
    ...view,
    x: view.x - right / view.pixels,
    y: view.y - down / view.pixels,
  });
}

/** Zooms so that what is under a point of the screen stays there. */
export function zoomed(frame: Frame, view: View, factor: number, left: number, top: number): View {
  const [x, y] = fromScreen(view, left, top);
  const least = fitted(frame, view.width, view.height).pixels / 2;
  const most = Math.max(frame.pixelsAt(DEEPEST_ZOOM), least);
  const pixels = Math.max(least, Math.min(most, view.pixels * factor));
  return kept(frame, {
    ...view,
    pixels,
    x: x - (left - view.width / 2) / pixels,
    y: y - (top - view.height / 2) / pixels,
  });
}

/** The city never leaves the screen altogether. */
function kept(frame: Frame, view: View): View {
  const [right, down] = [frame.width / 2, frame.height / 2];
  return {
    ...view,
    x: Math.max(-right, Math.min(right, view.x)),
    y: Math.max(-down, Math.min(down, view.y)),
  };
}
