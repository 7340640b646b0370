/** Steps of detail: single places, and groups of them that are seen and known from afar. */

import type { Frame } from "../map/frame";
import type { Atlas } from "../shared/atlas";
import { uncertain } from "../shared/format";
import { Ground } from "./shown";
import { namesOf } from "./words";

/** How far apart places must be to be told apart. */
const APART_PX = 34;
// Where most of what is counted is not sure, places are opened one step of zoom later.
const UNSURE_APART_PX = 2 * APART_PX;
const SAMPLED = 200;

export interface Step {
  /** The release with groups as its places. */
  readonly atlas: Atlas;
  readonly ground: Ground;
  readonly names: readonly string[];
  /** The group of each place. */
  readonly groupOf: (place: number) => number;
  /** A place of each group. */
  readonly placeOf: (group: number) => number;
  /** How many pixels a unit of the map must be long for its places to be told apart. */
  readonly pixels: number;
}

/** All steps of a release, the single places first. */
export function stepsOf(atlas: Atlas): Step[] {
  const ground = new Ground(atlas);
  const same = (index: number): number => index;
  const single = { atlas, ground, names: namesOf(atlas), groupOf: same, placeOf: same, pixels: 0 };
  if (atlas.levels.length === 0) return [single];
  const places = new Map(atlas.places.ids.map((id, i) => [id, i]));
  const grouped = atlas.levels.map(({ group, ...level }): Step => {
    const made: Atlas = { ...atlas, ...level, levels: [] };
    const known = level.places.ids.map((id) => places.get(id) ?? 0);
    return {
      atlas: made,
      ground: new Ground(made, ground.frame),
      names: namesOf(made),
      groupOf: (place) => group[place],
      placeOf: (index) => known[index],
      pixels: 0,
    };
  });
  return [single, ...grouped].map((step) => ({ ...step, pixels: openedAt(step) }));
}

/** The finest step whose places are told apart; the coarsest if none are. */
export function stepAt(steps: readonly Step[], pixels: number): number {
  const found = steps.findIndex((step) => step.pixels <= pixels);
  return found < 0 ? steps.length - 1 : found;
}

/** The zoom at which single places are told apart. */
export function placesZoom(steps: readonly Step[], frame: Frame): number {
  return frame.zoomOf(steps[0].pixels) + 0.01;
}

function openedAt({ atlas, ground }: Step): number {
  const { count, error } = atlas.flows!;
  let [sure, all] = [0, 0];
  for (let i = 0; i < count.length; i++) {
    all += count[i];
    if (!uncertain(count[i], error[i])) sure += count[i];
  }
  return (2 * sure >= all ? APART_PX : UNSURE_APART_PX) / neighbours(ground.points);
}

/** How far the next place is away, for half of the places. */
function neighbours(points: Float32Array): number {
  const size = points.length / 2;
  const every = Math.ceil(size / SAMPLED);
  const least: number[] = [];
  for (let i = 0; i < size; i += every) {
    let best = Infinity;
    for (let j = 0; j < size; j++) {
      const away = Math.hypot(points[2 * i] - points[2 * j], points[2 * i + 1] - points[2 * j + 1]);
      if (j !== i && away < best) best = away;
    }
    least.push(best);
  }
  return least.sort((a, b) => a - b)[Math.floor(least.length / 2)];
}
