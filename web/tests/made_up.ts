/** Small atlases made by hand: what a test changes is what it is about. */

export interface Made {
  facts: Record<string, any>;
  bytes: ArrayBuffer;
}

const SIZES: Record<string, number> = { f4: 4, f8: 8, u4: 4, i4: 4, u2: 2, u1: 1 };

class Writer {
  private readonly parts: { type: string; values: number[]; at: number }[] = [];
  private end = 0;

  put(type: string, values: number[]): { type: string; at: number; length: number } {
    const at = this.end;
    this.parts.push({ type, values, at });
    this.end = Math.ceil((at + values.length * SIZES[type]) / 8) * 8;
    return { type, at, length: values.length };
  }

  bytes(): ArrayBuffer {
    const view = new DataView(new ArrayBuffer(this.end));
    for (const { type, values, at } of this.parts) {
      values.forEach((value, i) => {
        const to = at + i * SIZES[type];
        if (type === "f4") view.setFloat32(to, value, true);
        else if (type === "f8") view.setFloat64(to, value, true);
        else if (type === "u4") view.setUint32(to, value, true);
        else if (type === "i4") view.setInt32(to, value, true);
        else if (type === "u2") view.setUint16(to, value, true);
        else view.setUint8(to, value);
      });
    }
    return view.buffer;
  }
}

/** Three places, two periods, four flows, a tree of three stops. */
export function madeUp(): Made {
  const to = new Writer();
  const facts = {
    format: "hushway-atlas",
    version: 1,
    id: "r",
    title: "A city",
    release_type: "od",
    layer: "flows",
    publisher: null,
    licence: null,
    contact: null,
    guarantee: "It is safe.",
    counted_sentence: "Trips, sum of 7 days, 2 to 8 March 2026. Protected unit: one person.",
    claim: "ε = 1 per person",
    error: "Small.",
    stamp: null,
    warning: "Not signed: nobody answers for it.",
    counted: "trips",
    digest: "00",
    window: "3 March 2026",
    bounds: [-8.7, 41.1, -8.5, 41.2],
    periods: [
      { label: "08:00", group: null },
      { label: "09:00", group: null },
    ],
    places: {
      ids: ["a", "b", "c"],
      names: ["Alpha", "Beta", "<b>Gamma</b>"],
      lon: to.put("f8", [-8.7, -8.6, -8.5]),
      lat: to.put("f8", [41.1, 41.15, 41.2]),
      shapes: {
        lon: to.put("f4", [-8.7, -8.65, -8.65, -8.7, -8.6, -8.55, -8.55]),
        lat: to.put("f4", [41.1, 41.1, 41.15, 41.15, 41.15, 41.15, 41.2]),
        ring_starts: to.put("u4", [0, 4, 7]),
        place_of_ring: to.put("u4", [0, 1]),
      },
    },
    totals: {
      count: to.put("f8", [10, 20, 30, 40, NaN, 60]),
      error: to.put("f4", [1, 1, 1, 30, NaN, 1]),
      meaning: "Trips that begin here.",
    },
    flows: {
      origin: to.put("u4", [0, 1, 0, 1]),
      destination: to.put("u4", [1, 2, 1, 0]),
      count: to.put("f4", [100, 3, 50, 7]),
      error: to.put("f4", [5, 2, NaN, 1]),
      starts: to.put("u4", [0, 2, 4]),
      meaning: "Trips from one place to another.",
    },
    levels: [
      {
        group: to.put("u4", [0, 0, 1]),
        places: {
          ids: ["a", "c"],
          names: ["Alpha and 1 more", "Gamma"],
          lon: to.put("f8", [-8.65, -8.5]),
          lat: to.put("f8", [41.125, 41.2]),
          shapes: null,
        },
        totals: {
          count: to.put("f4", [40, 60, 0, 60]),
          error: to.put("f4", [2, 30, 1, 1]),
          meaning: "Trips that begin in a group.",
        },
        flows: {
          origin: to.put("u4", [0, 0, 0]),
          destination: to.put("u4", [0, 1, 0]),
          count: to.put("f4", [100, 3, 57]),
          error: to.put("f4", [5, 2, 9]),
          starts: to.put("u4", [0, 2, 3]),
          meaning: "Trips between groups.",
        },
      },
    ],
    // Cells of (period, origin, destination): 0ab, 0bc, 1ab, 1ba.
    selectable: {
      intrazonal: false,
      gap: to.put("u1", [0, 3, 3, 2]),
      mean: to.put("u4", [99_000, 3_000, 50_500, 7_000]),
      error: to.put("u2", [3_000, 2_000, 4_000, 1_000]),
      counted: to.put("u1", [0, 1, 2, 3]),
      count: to.put("u1", [100, 3, 50, 7]),
      effects: { origin: 0.01, destination: 0.02, period: 0.03, pair: 0.5, origin_by_period: 0.04, destination_by_period: 0.06 },
      totals: [{ pair: null, pairs: 1, period: to.put("u1", [0, 1]), error: to.put("f8", [1.5, 100]) }],
    },
    links: null,
    tree: {
      parent: to.put("i4", [-1, 0, 0]),
      place: to.put("u4", [0, 1, 2]),
      count: to.put("f4", [9, 5, 4]),
      error: to.put("f4", [1, 1, 1]),
      period: null,
      meaning: "Records.",
    },
    series: null,
    notes: ["Know this."],
    downloads: [{ path: "files/trips.parquet", title: "Trips", bytes: 12, sha256: "ab" }],
  };
  return { facts, bytes: to.bytes() };
}

/** The same with one fact changed. */
export function changed(path: string, value: unknown): Made {
  const made = madeUp();
  const names = path.split(".");
  let at: any = made.facts;
  for (const name of names.slice(0, -1)) at = at[name];
  at[names[names.length - 1]] = value;
  return made;
}
