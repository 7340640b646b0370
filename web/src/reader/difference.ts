/** One release minus another, as an atlas of differences with the errors of both. */

import type { Atlas, Counted, Flows, Links } from "../shared/atlas";
import type { Floats } from "../shared/columns";

export interface Difference {
  readonly atlas: Atlas;
  /** What a reader must know about it. */
  readonly notes: readonly string[];
}

/** Compares, or says why that is not possible. */
export function differenceOf(one: Atlas, other: Atlas): Difference | string {
  if (one.releaseType !== other.releaseType) {
    return "These releases cannot be compared: they are of different types.";
  }
  if (one.counted !== other.counted) {
    return `These releases cannot be compared: one counts ${one.counted}, the other ${other.counted}.`;
  }
  if (
    one.periods.length !== other.periods.length ||
    one.periods.some((period, i) => period.label !== other.periods[i].label)
  ) {
    return "These releases cannot be compared: their periods are not the same.";
  }
  const ids = one.links && other.links ? [one.links.ids, other.links.ids] : [one.places.ids, other.places.ids];
  const where = positions(ids[0], ids[1]);
  const shared = where.reduce((sum, index) => sum + (index >= 0 ? 1 : 0), 0);
  if (shared === 0) return "These releases cannot be compared: they have no place in common.";
  const notes = [
    "Shown is this release minus the other, with the errors of both together: their noise was drawn " +
      "independently.",
  ];
  const missing = ids[0].length - shared;
  if (missing > 0) notes.push(`${missing} of ${ids[0].length} places are only in this release; they are left out.`);
  const flows = one.flows && other.flows && flowsMinus(one.flows, other.flows, where, other.places.ids.length);
  const links = one.links && other.links && linksMinus(one.links, other.links, where);
  for (const found of [flows, links]) {
    if (found && found.alone > 0) {
      notes.push(`${found.alone} counts are published by one of the two only; they are left out.`);
    }
  }
  const totals = one.totals && other.totals && totalsMinus(one, other.totals, where);
  const atlas: Atlas = {
    ...one,
    title: `${one.title} minus ${other.title}`,
    totals,
    flows: flows && flows.rows,
    links: links && links.rows,
    tree: null,
    series: null,
  };
  return { atlas, notes };
}

/** For each id of the second list, where it is in the first; -1 if it is not. */
function positions(first: readonly string[], second: readonly string[]): Int32Array {
  const known = new Map(first.map((id, i) => [id, i]));
  return Int32Array.from(second, (id) => known.get(id) ?? -1);
}

function both(one: number, other: number): number {
  return Math.sqrt(one * one + other * other);
}

function totalsMinus(one: Atlas, other: Counted, where: Int32Array): Counted {
  const periods = one.periods.length;
  const mine = one.totals!;
  const count = new Float64Array(mine.count.length).fill(NaN);
  const error = new Float64Array(mine.count.length).fill(NaN);
  where.forEach((to, from) => {
    if (to < 0) return;
    for (let p = 0; p < periods; p++) {
      const [a, b] = [to * periods + p, from * periods + p];
      count[a] = mine.count[a] - other.count[b];
      error[a] = both(mine.error[a], other.error[b]);
    }
  });
  return { count, error, meaning: `Difference. ${mine.meaning}` };
}

function flowsMinus(one: Flows, other: Flows, where: Int32Array, otherPlaces: number) {
  return rowsMinus(
    one,
    one.starts,
    other,
    other.starts,
    (row) => one.origin[row] * 2 ** 26 + one.destination[row],
    (row) => {
      const [from, to] = [where[other.origin[row]], where[other.destination[row]]];
      return from < 0 || to < 0 || otherPlaces === 0 ? -1 : from * 2 ** 26 + to;
    },
    (rows, starts, count, error): Flows => ({
      origin: Uint32Array.from(rows, (row) => one.origin[row]),
      destination: Uint32Array.from(rows, (row) => one.destination[row]),
      starts,
      count,
      error,
      meaning: `Difference. ${one.meaning}`,
    }),
  );
}

function linksMinus(one: Links, other: Links, where: Int32Array) {
  return rowsMinus(
    one,
    one.rowStarts,
    other,
    other.rowStarts,
    (row) => one.link[row],
    (row) => where[other.link[row]],
    (rows, rowStarts, count, error): Links => ({
      ...one,
      link: Uint32Array.from(rows, (row) => one.link[row]),
      rowStarts,
      count,
      error,
      meaning: `Difference. ${one.meaning}`,
      rest: [],
    }),
  );
}

/** Rows that both have, period by period, and the number of those that only one has. */
function rowsMinus<T>(
  one: Counted,
  starts: Uint32Array,
  other: Counted,
  otherStarts: Uint32Array,
  keyOf: (row: number) => number,
  otherKeyOf: (row: number) => number,
  build: (rows: number[], starts: Uint32Array, count: Floats, error: Floats) => T,
): { rows: T; alone: number } {
  const rows: number[] = [];
  const counts: number[] = [];
  const errors: number[] = [];
  const ends = new Uint32Array(starts.length);
  let alone = 0;
  for (let p = 0; p + 1 < starts.length; p++) {
    const theirs = new Map<number, number>();
    for (let row = otherStarts[p]; row < otherStarts[p + 1]; row++) theirs.set(otherKeyOf(row), row);
    const before = rows.length;
    for (let row = starts[p]; row < starts[p + 1]; row++) {
      const match = theirs.get(keyOf(row));
      if (match === undefined) continue;
      rows.push(row);
      counts.push(one.count[row] - other.count[match]);
      errors.push(both(one.error[row], other.error[match]));
    }
    const matched = rows.length - before;
    alone += starts[p + 1] - starts[p] - matched + (otherStarts[p + 1] - otherStarts[p] - matched);
    ends[p + 1] = rows.length;
  }
  return { rows: build(rows, ends, Float64Array.from(counts), Float64Array.from(errors)), alone };
}
