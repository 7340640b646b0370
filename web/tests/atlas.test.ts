import { describe, expect, it } from "vitest";
import { AtlasError, readAtlas } from "../src/shared/atlas";
import { readSite } from "../src/shared/site";
import { changed, madeUp } from "./made_up";

describe("an atlas", () => {
  it("is read with all of its columns", () => {
    const { facts, bytes } = madeUp();
    const atlas = readAtlas(facts, bytes);
    expect([...atlas.flows!.count]).toEqual([100, 3, 50, 7]);
    expect([...atlas.places.lon]).toEqual([-8.7, -8.6, -8.5]);
    expect([...atlas.places.shapes!.ringStarts]).toEqual([0, 4, 7]);
    expect(atlas.totals!.count[4]).toBeNaN();
    expect([...atlas.tree!.parent]).toEqual([-1, 0, 0]);
    expect(atlas.window).toBe("3 March 2026");
  });

  it("may leave out what its release type does not show", () => {
    for (const name of ["totals", "tree", "series", "places.shapes"]) {
      const { facts, bytes } = changed(name, null);
      expect(readAtlas(facts, bytes).releaseType).toBe("od");
    }
  });

  const HOSTILE: [string, string, unknown][] = [
    ["another format", "format", "something"],
    ["another version", "version", 2],
    ["an unknown layer", "layer", "__proto__"],
    ["no release type", "release_type", null],
    ["nothing to show", "flows", null],
    ["no periods", "periods", []],
    ["too many periods", "periods", new Array(30_000).fill({ label: "", group: null })],
    ["bounds that are no numbers", "bounds", [NaN, 0, 1, 1]],
    ["bounds that are turned around", "bounds", [10, 0, -10, 1]],
    ["bounds beyond the world", "bounds", [-1000, 0, 10, 1]],
    ["too few bounds", "bounds", [1, 2]],
    ["names that are no texts", "places.names", ["a", "b", { toString: "x" }]],
    ["too few names", "places.names", ["a"]],
    ["an endless title", "title", "x".repeat(100_000)],
    ["a column beyond the file", "flows.count", { type: "f4", at: 0, length: 1e9 }],
    ["a column that begins in the middle of a number", "flows.count", { type: "f4", at: 4, length: 4 }],
    ["a column before the file", "flows.count", { type: "f4", at: -8, length: 4 }],
    ["a column of half a number", "flows.count", { type: "f4", at: 0, length: 3.5 }],
    ["a column of another type", "flows.origin", { type: "f4", at: 0, length: 4 }],
    ["a column of an unknown type", "flows.origin", { type: "constructor", at: 0, length: 4 }],
    ["a column that is none", "flows.origin", "u4"],
    ["a column that is too short", "flows.error", { type: "f4", at: 0, length: 1 }],
    ["levels that are no list", "levels", {}],
    ["a level of other places", "levels.0.group", { type: "u4", at: 0, length: 2 }],
    ["a level without flows", "levels.0.flows", null],
    ["cells beyond all cells", "selectable.gap", { type: "u4", at: 0, length: 4 }],
    ["sums of another length", "selectable.mean", { type: "u2", at: 0, length: 3 }],
    ["effects that are no numbers", "selectable.effects.pair", "1"],
    ["a download from elsewhere", "downloads", [{ path: "https://evil.example/x", title: "x", bytes: 1, sha256: "" }]],
    ["a download that runs", "downloads", [{ path: "javascript:alert(1)", title: "x", bytes: 1, sha256: "" }]],
    ["a download from above", "downloads", [{ path: "files/../../secret", title: "x", bytes: 1, sha256: "" }]],
    ["a download of a negative size", "downloads", [{ path: "files/x", title: "x", bytes: -1, sha256: "" }]],
    ["notes that are no texts", "notes", [{}]],
    ["a stamp that is no text", "stamp", { a: 1 }],
    ["a warning that is no text", "warning", { a: 1 }],
  ];
  it.each(HOSTILE)("with %s is refused in a sentence", (_, path, value) => {
    const { facts, bytes } = changed(path, value);
    expect(() => readAtlas(facts, bytes)).toThrow(AtlasError);
  });

  it.each([null, 1, "x", [], {}])("that is %j is refused in a sentence", (facts) => {
    expect(() => readAtlas(facts, new ArrayBuffer(0))).toThrow(AtlasError);
  });

  it("refuses wrong numbers in its columns", () => {
    const wrong = (part: string, name: string, index: number, value: number): void => {
      const { facts, bytes } = madeUp();
      const group = part.split(".").reduce((at, key) => at[key], facts);
      const column = group[name] as { type: string; at: number };
      const view = new DataView(bytes);
      if (column.type === "f4") view.setFloat32(column.at + 4 * index, value, true);
      else if (column.type === "f8") view.setFloat64(column.at + 8 * index, value, true);
      else if (column.type === "i4") view.setInt32(column.at + 4 * index, value, true);
      else view.setUint32(column.at + 4 * index, value, true);
      expect(() => readAtlas(facts, bytes), `${part}.${name}`).toThrow(AtlasError);
    };
    wrong("flows", "origin", 0, 3);
    wrong("flows", "destination", 0, 4_000_000_000);
    wrong("flows", "count", 0, Infinity);
    wrong("flows", "error", 0, -1);
    wrong("flows", "starts", 1, 9);
    wrong("flows", "starts", 2, 3);
    wrong("levels.0", "group", 0, 2);
    wrong("levels.0.flows", "destination", 1, 2);
    wrong("places", "lon", 0, 181);
    wrong("places", "lat", 0, NaN);
    wrong("places.shapes", "ring_starts", 1, 8);
    wrong("places.shapes", "place_of_ring", 0, 3);
    // A tree with a circle would never end.
    wrong("tree", "parent", 1, 1);
    wrong("tree", "parent", 0, 2);
    wrong("tree", "parent", 0, -2);
  });
});

describe("a site", () => {
  const one = { slug: "march", title: "March", release_type: "od", period: "3 March" };
  const site = (...releases: unknown[]): unknown => ({ format: "hushway-site", version: 1, releases });

  it("lists its releases", () => {
    expect(readSite(site(one))[0].title).toBe("March");
  });

  it.each(["../x", "a/b", ".", "..", "", "a?b", "javascript:x"])("refuses the slug %j", (slug) => {
    expect(() => readSite(site({ ...one, slug }))).toThrow(AtlasError);
  });
});
