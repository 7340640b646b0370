/** Columns of numbers that follow each other in one binary file. */

/** What is wrong with an atlas, as a sentence for its reader. */
export class AtlasError extends Error {}

const TYPES = {
  f4: Float32Array,
  f8: Float64Array,
  u4: Uint32Array,
  i4: Int32Array,
  u2: Uint16Array,
  u1: Uint8Array,
} as const;

interface Kinds {
  f4: Float32Array;
  f8: Float64Array;
  u4: Uint32Array;
  i4: Int32Array;
  u2: Uint16Array;
  u1: Uint8Array;
}
export type ColumnType = keyof Kinds;
export type Column<T extends ColumnType> = Kinds[T];
export type Numbers = Kinds[ColumnType];
export type Wholes = Uint8Array | Uint16Array | Uint32Array;
export type Floats = Float32Array | Float64Array;

const LARGEST = 1e15;

export type Facts = Record<string, unknown>;

/** Views into the bytes: nothing is copied, and nothing outside of them is reached. */
export class Columns {
  constructor(private readonly bytes: ArrayBuffer) {}

  read<T extends ColumnType>(
    value: unknown,
    what: string,
    type: T,
    { length }: { length?: number } = {},
  ): Column<T> {
    const facts = object(value, what);
    if (facts["type"] !== type) {
      throw new AtlasError(`Column “${what}” should be of type ${type}.`);
    }
    const at = whole(facts["at"], `${what}.at`, this.bytes.byteLength);
    const size = whole(facts["length"], `${what}.length`, this.bytes.byteLength);
    const kind = TYPES[type];
    if (at % 8 !== 0 || at + size * kind.BYTES_PER_ELEMENT > this.bytes.byteLength) {
      throw new AtlasError(`Column “${what}” does not lie within the file of columns.`);
    }
    if (length !== undefined && size !== length) {
      throw new AtlasError(`Column “${what}” has ${size} values where ${length} belong.`);
    }
    return new kind(this.bytes, at, size) as unknown as Column<T>;
  }

  /** Positions that only grow, from 0 to the end of what they divide. */
  starts(value: unknown, what: string, parts: number | null, end: number): Uint32Array {
    const found = this.read(value, what, "u4", parts === null ? {} : { length: parts + 1 });
    if (found.length === 0 || found[0] !== 0 || found[found.length - 1] !== end) {
      throw new AtlasError(`Column “${what}” does not divide what it should divide.`);
    }
    for (let i = 1; i < found.length; i++) {
      if (found[i] < found[i - 1]) throw new AtlasError(`Column “${what}” goes backwards.`);
    }
    return found;
  }

  /** Positions in a list of so many. */
  indices(value: unknown, what: string, length: number | null, below: number): Uint32Array {
    const found = this.read(value, what, "u4", length === null ? {} : { length });
    for (let i = 0; i < found.length; i++) {
      if (found[i] >= below) throw new AtlasError(`Column “${what}” names what does not exist.`);
    }
    return found;
  }

  /** Whole numbers of 0 or more, in as few bytes as they fit. */
  wholes(value: unknown, what: string, length?: number): Wholes {
    const named = object(value, what)["type"];
    const type = named === "u1" || named === "u2" ? named : "u4";
    return this.read(value, what, type, length === undefined ? {} : { length });
  }

  /** Single precision, or double where that would be too coarse. */
  floats(value: unknown, what: string, length?: number): Floats {
    const type = object(value, what)["type"] === "f8" ? "f8" : "f4";
    return this.read(value, what, type, length === undefined ? {} : { length });
  }

  /** Counts and their standard errors; each may be unknown, and is not a number then. */
  counted(facts: Facts, what: string, length?: number): { count: Floats; error: Floats } {
    const count = this.floats(facts["count"], `${what}.count`, length);
    const error = this.floats(facts["error"], `${what}.error`, count.length);
    for (let i = 0; i < count.length; i++) {
      if (Math.abs(count[i]) > LARGEST || error[i] < 0 || error[i] > LARGEST) {
        throw new AtlasError(`“${what}” holds what can be neither a count nor an error.`);
      }
    }
    return { count, error };
  }

  /** Longitudes and latitudes, one pair for each point. */
  positions<T extends "f4" | "f8">(
    facts: Facts,
    what: string,
    type: T,
    length?: number,
  ): { lon: Column<T>; lat: Column<T> } {
    const lon = this.read(facts["lon"], `${what}.lon`, type, length === undefined ? {} : { length });
    const lat = this.read(facts["lat"], `${what}.lat`, type, { length: lon.length });
    within(lon, `${what}.lon`, -180, 180);
    within(lat, `${what}.lat`, -90, 90);
    return { lon, lat };
  }
}

function within(values: Numbers, what: string, low: number, high: number): void {
  for (let i = 0; i < values.length; i++) {
    // Written so that what is not a number fails too.
    if (!(values[i] >= low && values[i] <= high)) {
      throw new AtlasError(`Column “${what}” holds a value that is not between ${low} and ${high}.`);
    }
  }
}

export function object(value: unknown, what: string): Facts {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new AtlasError(`“${what}” is missing or is not a group of facts.`);
  }
  return value as Facts;
}

export function list(value: unknown, what: string, longest: number): unknown[] {
  if (!Array.isArray(value)) throw new AtlasError(`“${what}” is missing or is not a list.`);
  if (value.length > longest) throw new AtlasError(`“${what}” has more than ${longest} entries.`);
  return value;
}

export function text(value: unknown, what: string, longest = 4000): string {
  if (typeof value !== "string") throw new AtlasError(`“${what}” is missing or is not a text.`);
  if (value.length > longest) throw new AtlasError(`“${what}” is longer than ${longest} letters.`);
  return value;
}

export function maybeText(value: unknown, what: string, longest = 4000): string | null {
  return value === null || value === undefined ? null : text(value, what, longest);
}

export function texts(value: unknown, what: string, count: number | null, longest = 400): string[] {
  const found = list(value, what, 5_000_000);
  if (count !== null && found.length !== count) {
    throw new AtlasError(`“${what}” has ${found.length} entries where ${count} belong.`);
  }
  for (const one of found) text(one, what, longest);
  return found as string[];
}

export function finite(value: unknown, what: string, low: number, high: number): number {
  if (typeof value !== "number" || !(value >= low && value <= high)) {
    throw new AtlasError(`“${what}” is not a number between ${low} and ${high}.`);
  }
  return value;
}

export function whole(value: unknown, what: string, high: number): number {
  const found = finite(value, what, 0, high);
  if (!Number.isInteger(found)) throw new AtlasError(`“${what}” is not a whole number.`);
  return found;
}
