/** Classes of counts with round limits, the same for all periods of a release. */

import type { Floats } from "../shared/columns";

const STEPS = [1, 2, 5];

/** Round limits that grow like 1, 2, 5, 10, so that a few of them reach from small to large. */
export function roundLimits(smallest: number, largest: number, most: number): number[] {
  if (!(largest > 0)) return [];
  const low = Math.max(smallest, largest / 1e6);
  const all: number[] = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(largest)); power++) {
    for (const step of STEPS) {
      const limit = Number(`${step}e${power}`);
      if (limit > low && limit < largest) all.push(limit);
    }
  }
  if (all.length <= most) return all;
  // Every second or third limit, counted from the largest, until there are few enough.
  const every = Math.ceil(all.length / most);
  return all.filter((_, i) => (all.length - 1 - i) % every === 0).slice(-most);
}

/** The number of limits at or below a value. */
export function classOf(limits: readonly number[], value: number): number {
  let found = 0;
  while (found < limits.length && value >= limits[found]) found++;
  return found;
}

/** Smallest and largest of what is certain enough to be shown; both 0 if nothing is. */
export function extent(
  count: Floats,
  error: Floats,
): { smallest: number; largest: number } {
  let smallest = Infinity;
  let largest = 0;
  for (let i = 0; i < count.length; i++) {
    const value = Math.abs(count[i]);
    if (value > 0 && !(value < 2 * error[i])) {
      if (value < smallest) smallest = value;
      if (value > largest) largest = value;
    }
  }
  return largest === 0 ? { smallest: 0, largest } : { smallest, largest };
}

/** Rows in the order of their class: rows of class c are order[starts[c]] to order[starts[c + 1]]. */
export interface Ordered {
  readonly order: Uint32Array;
  readonly starts: Uint32Array;
}

export function byClass(classes: Uint8Array, howMany: number): Ordered {
  const starts = new Uint32Array(howMany + 1);
  for (let i = 0; i < classes.length; i++) starts[classes[i] + 1]++;
  for (let c = 0; c < howMany; c++) starts[c + 1] += starts[c];
  const next = starts.slice();
  const order = new Uint32Array(classes.length);
  for (let i = 0; i < classes.length; i++) order[next[classes[i]]++] = i;
  return { order, starts };
}
