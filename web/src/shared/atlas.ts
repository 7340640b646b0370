/** A release as something that can be drawn, read strictly: what is not as agreed is refused. */

import {
  AtlasError,
  Columns,
  finite,
  list,
  maybeText,
  object,
  text,
  texts,
  whole,
  type Facts,
  type Floats,
  type Wholes,
} from "./columns";
import type { Background } from "../map/ground";

export { AtlasError } from "./columns";

/** What an atlas is about; release types may share one. */
export const LAYERS = ["flows", "tree", "totals", "links"] as const;
export type LayerName = (typeof LAYERS)[number];

export interface Period {
  readonly label: string;
  readonly group: string | null;
  /** All parts of a day together; these stand behind all others. */
  readonly whole: boolean;
}

export interface Shapes {
  readonly lon: Float32Array;
  readonly lat: Float32Array;
  readonly ringStarts: Uint32Array;
  readonly placeOfRing: Uint32Array;
}

export interface Places {
  readonly ids: readonly string[];
  readonly names: readonly string[];
  readonly lon: Float64Array;
  readonly lat: Float64Array;
  readonly shapes: Shapes | null;
}

export interface Counted {
  readonly count: Floats;
  readonly error: Floats;
  readonly meaning: string;
}

export interface Flows extends Counted {
  readonly origin: Uint32Array;
  readonly destination: Uint32Array;
  readonly starts: Uint32Array;
}

/** Groups of places, with flows between them: what is seen from afar. */
export interface Level {
  /** The group of each place. */
  readonly group: Uint32Array;
  readonly places: Places;
  readonly totals: Counted;
  readonly flows: Flows;
}

/** Sums of classes of pairs of places in classes of periods, with errors of their own. */
export interface PublishedTotal {
  /** The class of each pair of places, and of each period; all are one where there is none. */
  readonly pair: Wholes | null;
  readonly pairs: number;
  readonly period: Wholes | null;
  readonly error: Float64Array;
}

/** What errors of flows have in common: `RandomEffects` in Python. */
const EFFECTS = ["origin", "destination", "period", "pair", "origin_by_period", "destination_by_period"] as const;

/** What sums over any flows are made of. */
export interface Selectable {
  readonly intrazonal: boolean;
  /** How far each cell is from the one before, in the order (period, origin, destination). */
  readonly gap: Wholes;
  /** What is expected of each cell and its standard error, in thousandths. */
  readonly mean: Wholes;
  readonly error: Wholes;
  /** Cells that have a count, and their counts. */
  readonly counted: Wholes;
  readonly count: Wholes;
  /** Variances of what errors of one origin, destination, period or pair have in common. */
  readonly effects: Readonly<Record<(typeof EFFECTS)[number], number>>;
  readonly totals: readonly PublishedTotal[];
}

export interface Rest {
  readonly period: number;
  readonly label: string;
  readonly count: number;
  readonly error: number;
  readonly km: number | null;
  readonly kmError: number | null;
}

export interface Links extends Counted {
  readonly lon: Float32Array;
  readonly lat: Float32Array;
  readonly starts: Uint32Array;
  readonly ids: readonly string[];
  readonly names: readonly string[];
  readonly rank: Uint8Array;
  readonly link: Uint32Array;
  readonly rowStarts: Uint32Array;
  readonly rest: readonly Rest[];
}

export interface Tree extends Counted {
  readonly parent: Int32Array;
  readonly place: Uint32Array;
  /** The period of the last stop, where times are published. */
  readonly period: Uint32Array | null;
}

export interface Download {
  readonly path: string;
  readonly title: string;
  readonly bytes: number;
  readonly sha256: string;
}

export interface Atlas {
  readonly id: string;
  readonly title: string;
  readonly releaseType: string;
  readonly layer: LayerName;
  readonly publisher: string | null;
  readonly licence: string | null;
  readonly contact: string | null;
  readonly guarantee: string;
  /** What was counted, over which days, of which data, and what unit is protected. */
  readonly countedSentence: string;
  readonly claim: string;
  readonly error: string;
  readonly stamp: string | null;
  readonly warning: string | null;
  readonly counted: string;
  readonly window: string;
  readonly digest: string;
  readonly bounds: readonly [number, number, number, number];
  readonly periods: readonly Period[];
  readonly places: Places;
  readonly totals: Counted | null;
  readonly flows: Flows | null;
  /** From many groups of places to few. */
  readonly levels: readonly Level[];
  readonly selectable: Selectable | null;
  readonly links: Links | null;
  readonly tree: Tree | null;
  /** What is published of all places together, period by period. */
  readonly series: Counted | null;
  readonly notes: readonly string[];
  readonly downloads: readonly Download[];
  /** Ground under the map, which lies beside the atlas. */
  readonly background?: Background | null;
}

// More than any city has; a page that is asked for more would only hang.
const MOST_PERIODS = 20_000;
const MOST_LEVELS = 20;
const MOST_NOTES = 200;
const MOST_DOWNLOADS = 500;
const MOST_ROWS = 20_000_000;
const MOST_POINTS = 20_000_000;

/** Reads an atlas, or says in one sentence what is wrong with it. */
export function readAtlas(value: unknown, bytes: ArrayBuffer): Atlas {
  const facts = object(value, "atlas");
  if (facts["format"] !== "hushway-atlas") throw new AtlasError("This file is not an atlas.");
  if (facts["version"] !== 1) {
    throw new AtlasError("This atlas is of another version than this page can read.");
  }
  const columns = new Columns(bytes);
  const layer = LAYERS.find((one) => one === facts["layer"]);
  if (layer === undefined) throw new AtlasError("The atlas does not say what it shows.");
  const periods = list(facts["periods"], "periods", MOST_PERIODS).map(readPeriod);
  if (periods.length === 0) throw new AtlasError("The atlas has no period.");
  const places = readPlaces(object(facts["places"], "places"), columns);
  const atlas: Atlas = {
    id: text(facts["id"], "id", 400),
    title: text(facts["title"], "title", 400),
    releaseType: text(facts["release_type"], "release_type", 200),
    layer,
    publisher: maybeText(facts["publisher"], "publisher"),
    licence: maybeText(facts["licence"], "licence"),
    contact: maybeText(facts["contact"], "contact"),
    guarantee: text(facts["guarantee"], "guarantee"),
    countedSentence: text(facts["counted_sentence"], "counted_sentence"),
    claim: text(facts["claim"], "claim"),
    error: text(facts["error"], "error"),
    stamp: maybeText(facts["stamp"], "stamp"),
    warning: maybeText(facts["warning"], "warning"),
    counted: text(facts["counted"], "counted", 400),
    window: maybeText(facts["window"], "window", 400) ?? "",
    digest: text(facts["digest"], "digest", 400),
    bounds: readBounds(facts["bounds"]),
    periods,
    places,
    totals: optional(facts["totals"], "totals", (found) => readTotals(found, columns, places.ids.length * periods.length)),
    flows: optional(facts["flows"], "flows", (found) =>
      readFlows(found, columns, places.ids.length, periods.length),
    ),
    levels: list(facts["levels"] ?? [], "levels", MOST_LEVELS).map((one) =>
      readLevel(object(one, "levels"), columns, places.ids.length, periods.length),
    ),
    selectable: optional(facts["selectable"], "selectable", (found) =>
      readSelectable(found, columns, places.ids.length, periods.filter((period) => !period.whole).length),
    ),
    links: optional(facts["links"], "links", (found) => readLinks(found, columns, periods.length)),
    tree: optional(facts["tree"], "tree", (found) => readTree(found, columns, places.ids.length, periods.length)),
    series: optional(facts["series"], "series", (found) => ({
      ...columns.counted(found, "series", periods.length),
      meaning: text(found["meaning"], "series.meaning"),
    })),
    notes: list(facts["notes"], "notes", MOST_NOTES).map((one) => text(one, "notes")),
    downloads: list(facts["downloads"], "downloads", MOST_DOWNLOADS).map(readDownload),
  };
  if (atlas[layer] === null) throw new AtlasError(`The atlas lacks the ${layer} that it says it shows.`);
  return atlas;
}

function few(found: number, most: number, what: string): void {
  if (found > most) throw new AtlasError(`The atlas has more than ${most} ${what}.`);
}

function optional<T>(value: unknown, what: string, read: (facts: Facts) => T): T | null {
  return value === null || value === undefined ? null : read(object(value, what));
}

function readBounds(value: unknown): [number, number, number, number] {
  const found = list(value, "bounds", 4);
  const [west, south, east, north] = [0, 1, 2, 3].map((i) =>
    finite(found[i], "bounds", i % 2 === 0 ? -180 : -90, i % 2 === 0 ? 180 : 90),
  ) as [number, number, number, number];
  if (west > east || south > north) throw new AtlasError("The bounds of the atlas are turned around.");
  return [west, south, east, north];
}

function readPeriod(value: unknown): Period {
  const facts = object(value, "periods");
  return {
    label: text(facts["label"], "periods.label", 200),
    group: maybeText(facts["group"], "periods.group", 200),
    whole: facts["whole"] === true,
  };
}

function readPlaces(facts: Facts, columns: Columns): Places {
  const ids = texts(facts["ids"], "places.ids", null);
  return {
    ids,
    names: texts(facts["names"], "places.names", ids.length),
    ...columns.positions(facts, "places", "f8", ids.length),
    shapes: optional(facts["shapes"], "places.shapes", (found) => {
      const points = columns.positions(found, "places.shapes", "f4");
      few(points.lon.length, MOST_POINTS, "points of areas");
      const ringStarts = columns.starts(
        found["ring_starts"],
        "places.shapes.ring_starts",
        null,
        points.lon.length,
      );
      const placeOfRing = columns.indices(
        found["place_of_ring"],
        "places.shapes.place_of_ring",
        ringStarts.length - 1,
        ids.length,
      );
      return { ...points, ringStarts, placeOfRing };
    }),
  };
}

function readFlows(facts: Facts, columns: Columns, places: number, periods: number): Flows {
  const counted = columns.counted(facts, "flows");
  const rows = counted.count.length;
  few(rows, MOST_ROWS, "flows");
  return {
    ...counted,
    origin: columns.indices(facts["origin"], "flows.origin", rows, places),
    destination: columns.indices(facts["destination"], "flows.destination", rows, places),
    starts: columns.starts(facts["starts"], "flows.starts", periods, rows),
    meaning: text(facts["meaning"], "flows.meaning"),
  };
}

function readTotals(facts: Facts, columns: Columns, length: number): Counted {
  return { ...columns.counted(facts, "totals", length), meaning: text(facts["meaning"], "totals.meaning") };
}

function readLevel(facts: Facts, columns: Columns, members: number, periods: number): Level {
  const places = readPlaces(object(facts["places"], "levels.places"), columns);
  const size = places.ids.length;
  return {
    group: columns.indices(facts["group"], "levels.group", members, size),
    places,
    totals: readTotals(object(facts["totals"], "levels.totals"), columns, size * periods),
    flows: readFlows(object(facts["flows"], "levels.flows"), columns, size, periods),
  };
}

function readSelectable(facts: Facts, columns: Columns, places: number, periods: number): Selectable {
  const intrazonal = facts["intrazonal"] === true;
  const pairs = places * (intrazonal ? places : places - 1);
  const gap = columns.wholes(facts["gap"], "selectable.gap");
  let last = 0;
  for (const one of gap) last += one;
  if (gap.length > 0 && last >= pairs * periods) throw new AtlasError("“selectable” has a cell that does not exist.");
  const counted = columns.wholes(facts["counted"], "selectable.counted");
  for (const one of counted) if (one >= gap.length) throw new AtlasError("“selectable” counts what does not exist.");
  const effects = object(facts["effects"], "selectable.effects");
  const effect = (name: string): number => finite(effects[name], `selectable.effects.${name}`, 0, 1e15);
  return {
    intrazonal,
    gap,
    mean: columns.wholes(facts["mean"], "selectable.mean", gap.length),
    error: columns.wholes(facts["error"], "selectable.error", gap.length),
    counted,
    count: columns.wholes(facts["count"], "selectable.count", counted.length),
    effects: Object.fromEntries(EFFECTS.map((name) => [name, effect(name)])) as Selectable["effects"],
    totals: list(facts["totals"], "selectable.totals", MOST_NOTES).map((one) =>
      readTotal(object(one, "selectable.totals"), columns, pairs, periods),
    ),
  };
}

function readTotal(facts: Facts, columns: Columns, pairs: number, periods: number): PublishedTotal {
  const classes = (name: string, length: number): Wholes | null =>
    facts[name] === null ? null : columns.wholes(facts[name], `selectable.totals.${name}`, length);
  return {
    pair: classes("pair", pairs),
    pairs: whole(facts["pairs"], "selectable.totals.pairs", MOST_ROWS),
    period: classes("period", periods),
    error: columns.read(facts["error"], "selectable.totals.error", "f8"),
  };
}

function readLinks(facts: Facts, columns: Columns, periods: number): Links {
  const points = columns.positions(facts, "links", "f4");
  few(points.lon.length, MOST_POINTS, "points of links");
  const ids = texts(facts["ids"], "links.ids", null);
  const counted = columns.counted(facts, "links");
  return {
    ...points,
    ...counted,
    starts: columns.starts(facts["starts"], "links.starts", ids.length, points.lon.length),
    ids,
    names: texts(facts["names"], "links.names", ids.length),
    rank: columns.read(facts["rank"], "links.rank", "u1", { length: ids.length }),
    link: columns.indices(facts["link"], "links.link", counted.count.length, ids.length),
    rowStarts: columns.starts(facts["row_starts"], "links.row_starts", periods, counted.count.length),
    meaning: text(facts["meaning"], "links.meaning"),
    rest: list(facts["rest"] ?? [], "links.rest", 500_000).map((one) => readRest(one, periods)),
  };
}

function readRest(value: unknown, periods: number): Rest {
  const facts = object(value, "links.rest");
  const number = (name: string): number | null =>
    facts[name] === null || facts[name] === undefined
      ? null
      : finite(facts[name], `links.rest.${name}`, -1e15, 1e15);
  return {
    period: whole(facts["period"], "links.rest.period", periods - 1),
    label: text(facts["label"], "links.rest.label", 400),
    count: number("count") ?? 0,
    error: number("error") ?? NaN,
    km: number("km"),
    kmError: number("km_error"),
  };
}

function readTree(facts: Facts, columns: Columns, places: number, periods: number): Tree {
  const counted = columns.counted(facts, "tree");
  const parent = columns.read(facts["parent"], "tree.parent", "i4", { length: counted.count.length });
  for (let i = 0; i < parent.length; i++) {
    // A parent always stands before its children, so there is no way in circles.
    if (parent[i] < -1 || parent[i] >= i) {
      throw new AtlasError("The tree of the atlas is not ordered from its root on.");
    }
  }
  return {
    ...counted,
    parent,
    place: columns.indices(facts["place"], "tree.place", counted.count.length, places),
    period:
      facts["period"] === null || facts["period"] === undefined
        ? null
        : columns.indices(facts["period"], "tree.period", counted.count.length, periods),
    meaning: text(facts["meaning"], "tree.meaning"),
  };
}

function readDownload(value: unknown): Download {
  const facts = object(value, "downloads");
  const path = text(facts["path"], "downloads.path", 1000);
  const parts = path.split("/");
  if (parts[0] !== "files" || parts.length < 2 || parts.some((part) => /^\.*$|[\\:?#]/.test(part))) {
    throw new AtlasError("A download of the atlas is not one of the release's own files.");
  }
  return {
    path,
    title: text(facts["title"], "downloads.title", 400),
    bytes: whole(facts["bytes"], "downloads.bytes", Number.MAX_SAFE_INTEGER),
    sha256: text(facts["sha256"], "downloads.sha256", 64),
  };
}
