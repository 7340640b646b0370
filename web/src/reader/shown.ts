/** What a map shows of an atlas in one period, and how large all of it can be. */

import type { Floats } from "../shared/columns";
import type { Atlas } from "../shared/atlas";
import { uncertain } from "../shared/format";
import { Outlines } from "../map/areas";
import { Frame } from "../map/frame";
import { placed } from "../map/ground";
import { bySize } from "../map/labels";
import { PointIndex } from "../map/points";
import { Lines } from "../map/roads";
import { Scale } from "../map/scale";
import { partsOf } from "./days";

export interface Values {
  readonly count: Floats;
  readonly error: Floats;
}

export interface Shown {
  /** One value for each place. */
  readonly places: Values | null;
  readonly flows: (Values & { origin: Uint32Array; destination: Uint32Array }) | null;
  readonly links: (Values & { link: Uint32Array }) | null;
}

export function shownAt(atlas: Atlas, period: number): Shown {
  const { flows, links } = atlas;
  const part = <T extends Floats | Uint32Array>(column: T, starts: Uint32Array): T =>
    column.subarray(starts[period], starts[period + 1]) as T;
  return {
    places: placesAt(atlas, period),
    flows: flows && {
      origin: part(flows.origin, flows.starts),
      destination: part(flows.destination, flows.starts),
      count: part(flows.count, flows.starts),
      error: part(flows.error, flows.starts),
    },
    links: links && {
      link: part(links.link, links.rowStarts),
      count: part(links.count, links.rowStarts),
      error: part(links.error, links.rowStarts),
    },
  };
}

function placesAt({ totals, places, periods }: Atlas, period: number): Values | null {
  if (totals === null) return null;
  const size = places.ids.length;
  const [count, error] = [new Float64Array(size), new Float64Array(size)];
  for (let i = 0; i < size; i++) {
    count[i] = totals.count[i * periods.length + period];
    error[i] = totals.error[i * periods.length + period];
  }
  return { count, error };
}

/** The period in which most is published: where a reader begins. */
export function busiest(atlas: Atlas): number {
  let best = 0;
  let most = -Infinity;
  for (let period = 0; period < atlas.periods.length; period++) {
    const shown = shownAt(atlas, period);
    const values = shown.links ?? (atlas.layer === "totals" ? shown.places : shown.flows);
    let sum = 0;
    for (const value of values?.count ?? []) if (value > 0) sum += value;
    if (sum > most) [best, most] = [period, sum];
  }
  return best;
}

/** Geometry of an atlas, projected once. */
export class Ground {
  readonly frame: Frame;
  readonly points: Float32Array;
  readonly outlines: Outlines | null;
  readonly lines: Lines | null;
  readonly background: ReturnType<typeof placed> | null;
  /** Places by what is published of them, the largest first. */
  readonly bySize: Uint32Array;
  private readonly index: PointIndex;

  constructor(atlas: Atlas, frame?: Frame) {
    const { bounds, places, links, background } = atlas;
    this.frame = frame ?? Frame.around(bounds);
    this.points = this.frame.projectAll(places.lon, places.lat);
    this.outlines = places.shapes && new Outlines(this.frame, places.shapes, places.ids.length);
    this.lines = links && new Lines(this.frame, links);
    this.background = background ? placed(this.frame, background) : null;
    this.bySize = bySize(atlas);
    this.index = new PointIndex(this.points);
  }

  /** The link or place at a point of the frame. */
  at(x: number, y: number, within: number): number | null {
    if (this.lines) return this.lines.nearest(x, y, within);
    return this.outlines?.at(x, y) ?? this.index.nearest(x, y, 2 * within);
  }
}

/** One scale for each kind of thing, the same in all parts of days so that they can be compared. */
export interface Scales {
  readonly places: Scale | null;
  readonly flows: Scale | null;
  readonly links: Scale | null;
}

export function scalesOf(atlas: Atlas, diverging: boolean, whole: boolean): Scales {
  const { periods, totals, flows, links } = atlas;
  const parts = partsOf(periods).length;
  const one = (values: Values | null): Scale | null =>
    values && Scale.of(values.count, values.error, diverging);
  const rows = (values: Values, starts: Uint32Array): Values => {
    const [from, to] = whole ? [starts[parts], values.count.length] : [0, starts[parts]];
    return { count: values.count.subarray(from, to), error: values.error.subarray(from, to) };
  };
  const cells = (values: Values): Values => {
    const kept = (_: number, i: number): boolean => whole === (i % periods.length >= parts);
    return { count: values.count.filter(kept), error: values.error.filter(kept) };
  };
  return {
    places: one(totals && cells(totals)),
    flows: one(flows && rows(flows, flows.starts)),
    links: one(links && rows(links, links.rowStarts)),
  };
}

/** A line of a table: what it is about, and what is counted. */
export interface Row {
  readonly what: string;
  readonly count: number;
  readonly error: number;
  readonly select: number;
  readonly partner: number | null;
}

/** The largest of what the map shows, for those who read tables rather than maps. */
export function largest(
  atlas: Atlas,
  names: readonly string[],
  shown: Shown,
  most: number,
  showUncertain: boolean,
): Row[] {
  const listed = (values: Values): number[] =>
    top(values, most).filter((i) => showUncertain || !uncertain(values.count[i], values.error[i]));
  if (shown.links && atlas.links) {
    const { link } = shown.links;
    return listed(shown.links).map((i) => row(shown.links!, i, names[link[i]], link[i]));
  }
  if (atlas.layer === "totals" && shown.places) {
    return listed(shown.places).map((i) => row(shown.places!, i, names[i], i));
  }
  if (shown.flows) {
    const { origin, destination } = shown.flows;
    return listed(shown.flows).map((i) =>
      row(
        shown.flows!,
        i,
        origin[i] === destination[i] ? `within ${names[origin[i]]}` : `${names[origin[i]]} → ${names[destination[i]]}`,
        origin[i],
        destination[i],
      ),
    );
  }
  return [];
}

export interface Partners {
  readonly out: Row[];
  readonly into: Row[];
}

/** The largest flows that begin and that end at a place. */
export function partnersOf(names: readonly string[], shown: Shown, place: number, most: number): Partners {
  const flows = shown.flows;
  if (flows === null) return { out: [], into: [] };
  const rows = (from: Uint32Array, to: Uint32Array): Row[] => {
    const found: number[] = [];
    for (let i = 0; i < from.length; i++) if (from[i] === place) found.push(i);
    return top(flows, most, found).map((i) => row(flows, i, names[to[i]], place, to[i]));
  };
  return {
    out: rows(flows.origin, flows.destination),
    into: rows(flows.destination, flows.origin),
  };
}

/** The rows that are largest in size; those that are too uncertain come after all others. */
function top({ count, error }: Values, most: number, among?: number[]): number[] {
  const all = among ?? Array.from({ length: count.length }, (_, i) => i);
  const found = all.filter((i) => !Number.isNaN(count[i]));
  const size = (i: number): number => Math.abs(count[i]);
  const sunk = (i: number): number => (uncertain(count[i], error[i]) ? 1 : 0);
  return found.sort((a, b) => sunk(a) - sunk(b) || size(b) - size(a)).slice(0, most);
}

function row(
  { count, error }: Values,
  i: number,
  what: string,
  select: number,
  partner: number | null = null,
): Row {
  return { what, count: count[i], error: error[i], select, partner };
}

/** Counts over all periods; not a number where nothing is published. */
export interface Course {
  readonly count: Float64Array;
  readonly error: Float64Array;
}

/** A place, a flow between two of them, or a link, over all periods. */
export function courseOf(atlas: Atlas, select: number, partner: number | null): Course | null {
  const periods = atlas.periods.length;
  const count = new Float64Array(periods).fill(NaN);
  const error = new Float64Array(periods).fill(NaN);
  const { totals, flows, links } = atlas;
  if (links) {
    gather(links, links.rowStarts, (row) => links.link[row] === select);
  } else if (partner !== null && flows) {
    const { origin, destination } = flows;
    gather(flows, flows.starts, (row) => origin[row] === select && destination[row] === partner);
  } else if (totals) {
    for (let p = 0; p < periods; p++) {
      count[p] = totals.count[select * periods + p];
      error[p] = totals.error[select * periods + p];
    }
  } else return null;
  return { count, error };

  function gather(from: Values, starts: Uint32Array, wanted: (row: number) => boolean): void {
    for (let p = 0; p < periods; p++) {
      for (let row = starts[p]; row < starts[p + 1]; row++) {
        if (wanted(row)) {
          count[p] = from.count[row];
          error[p] = from.error[row];
        }
      }
    }
  }
}
