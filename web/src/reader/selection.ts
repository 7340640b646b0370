/** Sums over any origins, destinations and periods, by the rule of `release.sum`. */

import type { Period, PublishedTotal, Selectable } from "../shared/atlas";
import { partsOf } from "./days";

export interface Selection {
  /** Places; none stand for all of them. */
  readonly origins: readonly number[];
  readonly destinations: readonly number[];
  readonly periods: readonly number[];
}

export interface Sum {
  readonly count: number;
  readonly error: number;
}

interface Elements {
  readonly of: (cell: number) => number;
  readonly sizes: Map<number, number>;
  readonly error: Float64Array;
}

/** Parts of days that a period of the page is made of. */
export function partsIn(periods: readonly Period[], period: number): number[] {
  if (!periods[period].whole) return [period];
  return partsOf(periods).flatMap(({ group }, i) => (group === periods[period].group ? [i] : []));
}

export class Sums {
  private readonly period: Uint32Array;
  private readonly pair: Uint32Array;
  private readonly origin: Uint32Array;
  private readonly destination: Uint32Array;
  private readonly variance: Float64Array;
  private readonly count: Float64Array;
  /** What each effect moves: the group of every cell, and by how much. */
  private readonly moved: readonly { group: Uint32Array; by: Float64Array }[];
  private readonly totals: readonly Elements[];

  constructor(
    private readonly cells: Selectable,
    private readonly places: number,
    private readonly periods: number,
  ) {
    const size = cells.gap.length;
    const width = cells.intrazonal ? places : places - 1;
    const column = (): Uint32Array => new Uint32Array(size);
    [this.period, this.pair, this.origin, this.destination] = [column(), column(), column(), column()];
    for (let i = 0, cell = 0; i < size; i++) {
      cell += cells.gap[i];
      this.pair[i] = cell % (places * width);
      this.period[i] = (cell - this.pair[i]) / (places * width);
      this.destination[i] = this.pair[i] % width;
      this.origin[i] = (this.pair[i] - this.destination[i]) / width;
      if (!cells.intrazonal && this.destination[i] >= this.origin[i]) this.destination[i]++;
    }
    this.variance = Float64Array.from(cells.error, (error) => (error / 1000) ** 2);
    this.count = new Float64Array(size);
    cells.counted.forEach((cell, i) => (this.count[cell] = cells.count[i]));
    const { effects } = cells;
    const inPeriod = (place: Uint32Array): Uint32Array => place.map((each, i) => this.period[i] * places + each);
    this.moved = [
      this.effect(this.period, effects.period),
      this.effect(this.origin, effects.origin),
      this.effect(this.destination, effects.destination),
      this.effect(inPeriod(this.origin), effects.origin_by_period),
      this.effect(inPeriod(this.destination), effects.destination_by_period),
      this.effect(this.pair, effects.pair, (every) => every),
    ];
    this.totals = cells.totals.map((total) => this.elements(total));
  }

  sum({ origins, destinations, periods }: Selection): Sum {
    const [from, to, when] = [marked(origins, this.places), marked(destinations, this.places), marked(periods, this.periods)];
    const chosen: number[] = [];
    for (let i = 0; i < this.pair.length; i++) {
      if (from[this.origin[i]] && to[this.destination[i]] && when[this.period[i]]) chosen.push(i);
    }
    const count = chosen.reduce((sum, i) => sum + this.count[i], 0);
    return { count, error: Math.sqrt(Math.max(0, this.varianceOf(chosen, count))) };
  }

  private varianceOf(chosen: readonly number[], count: number): number {
    const { mean } = this.cells;
    const expected = chosen.reduce((sum, i) => sum + mean[i], 0) / 1000;
    let found = chosen.reduce((sum, i) => sum + this.variance[i], 0);
    for (const { group, by } of this.moved) found += products(chosen, group, by);
    // Counts are whole: so far are they from what is expected.
    found += (count - expected) ** 2;
    // Published sums have errors of their own.
    const told = Math.min(Infinity, ...this.totals.map((total) => varianceOfTotal(total, chosen)));
    return Number.isFinite(told) ? told : found;
  }

  /** By how much an effect moves each cell of its group: the variance of all cells says how much. */
  private effect(group: Uint32Array, effect: number, growth = sharedGrowth) {
    const every = new Float64Array(group.reduce((most, each) => Math.max(most, each), 0) + 1);
    this.variance.forEach((variance, i) => (every[group[i]] += variance));
    const grown = growth(every);
    const by = this.variance.map((variance, i) => {
      const all = Math.max(every[group[i]], 1e-12);
      return (variance * Math.sqrt(effect * grown[group[i]])) / all;
    });
    return { group, by };
  }

  private elements({ pair, pairs, period, error }: PublishedTotal): Elements {
    const of = (i: number): number => (period?.[this.period[i]] ?? 0) * pairs + (pair?.[this.pair[i]] ?? 0);
    const sizes = new Map<number, number>();
    for (let i = 0; i < this.pair.length; i++) sizes.set(of(i), (sizes.get(of(i)) ?? 0) + 1);
    return { of, sizes, error };
  }
}

/** What an effect of 1 adds to the variance of sums over whole groups: half in proportion, half evenly. */
function sharedGrowth(every: Float64Array): Float64Array {
  const some = every.filter((each) => each > 0);
  const even = some.reduce((sum, each) => sum + each, 0) / Math.max(1, some.length);
  return every.map((each) => (each > 0 ? (each + even) / 2 : 0));
}

function marked(positions: readonly number[], size: number): Uint8Array {
  const found = new Uint8Array(size).fill(positions.length === 0 ? 1 : 0);
  for (const position of positions) found[position] = 1;
  return found;
}

/** The sum of products of all two different cells that have the same group. */
function products(chosen: readonly number[], group: Uint32Array, own: Float64Array): number {
  const together = new Map<number, number>();
  let squares = 0;
  for (const i of chosen) {
    together.set(group[i], (together.get(group[i]) ?? 0) + own[i]);
    squares += own[i] ** 2;
  }
  let found = 0;
  for (const sum of together.values()) found += sum ** 2;
  return found - squares;
}

/** The variance of a published total, if it is just what is chosen. */
function varianceOfTotal({ of, sizes, error }: Elements, chosen: readonly number[]): number {
  if (chosen.length === 0) return Infinity;
  const element = of(chosen[0]);
  if (sizes.get(element) !== chosen.length || chosen.some((i) => of(i) !== element)) return Infinity;
  return error[element] ** 2;
}
