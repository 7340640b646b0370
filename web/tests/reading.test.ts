import { describe, expect, it } from "vitest";
import { stepAt, stepsOf } from "../src/reader/levels";
import { partsIn, Sums } from "../src/reader/selection";
import { daysOf, partsOf, ticksOf } from "../src/reader/days";
import { differenceOf } from "../src/reader/difference";
import { busiest, courseOf, largest, partnersOf, scalesOf, shownAt } from "../src/reader/shown";
import { Scale } from "../src/map/scale";
import { legendWords, namesOf } from "../src/reader/words";
import { Branches } from "../src/reader/tree";
import { readAddress, writeAddress } from "../src/shared/address";
import { AtlasError, readAtlas, type Atlas } from "../src/shared/atlas";
import { readSeries } from "../src/shared/series";
import { bytes, difference, number, uncertain, withInterval } from "../src/shared/format";
import { changed, madeUp } from "./made_up";

function atlasOf(path?: string, value?: unknown): Atlas {
  const made = path === undefined ? madeUp() : changed(path, value);
  return readAtlas(made.facts, made.bytes);
}

describe("numbers", () => {
  it("come with their interval", () => {
    expect(withInterval(412, 16.33)).toBe("412 (380 to 444)");
    expect(withInterval(9, 10)).toBe("9 (0 to 29)");
    expect(withInterval(9, NaN)).toBe("9 (error not known)");
    expect(withInterval(NaN, 1)).toBe("not published");
    expect(withInterval(1.5, 0.1)).toBe("1.5 (1.3 to 1.7)");
    expect(difference(-12, 3)).toBe("−12 (−18 to −6)");
    expect(difference(12, 3)).toBe("+12 (6 to 18)");
  });

  it("are without false precision", () => {
    expect([12345.6, 0.12345, -0, -3].map(number)).toEqual(["12,346", "0.123", "0", "−3"]);
    expect([12, 1234, 5_600_000].map(bytes)).toEqual(["12 bytes", "1.23 kB", "5.6 MB"]);
  });

  it("are uncertain below two standard errors", () => {
    expect(uncertain(19, 10)).toBe(true);
    expect(uncertain(-19, 10)).toBe(true);
    expect(uncertain(20, 10)).toBe(false);
    expect(uncertain(1, NaN)).toBe(false);
  });
});

describe("a series", () => {
  const step = (name: string, slug: string | null, count: number | null) => ({ name, slug, count, error: count === null ? null : 5 });
  const told = { label: "2026-Q1, 2 of 3 months", count: 220, low: 200, high: 240 };
  const facts = {
    step: "month",
    counted: "trips",
    steps: [step("2026-01", "january", 100), step("2026-02", null, null), step("2026-03", "march", 120)],
    longer: [told],
    changes: [{ ...told, label: "origins A (a)", count: -40, low: -60, high: -20, earlier: "2026-01", later: "2026-03" }],
    labels: { origins: { a: [[60, 3], null, [20, 3]] } },
  };

  it("has a gap where there is no release", () => {
    const found = readSeries(facts)!;
    expect(found.steps.map(({ slug }) => slug)).toEqual(["january", null, "march"]);
    expect(found.steps[1].count).toBeNaN();
    expect(found.courseOf("origins", "a")).toEqual({ count: [60, NaN, 20], error: [3, NaN, 3] });
    expect([found.courseOf("origins", "b"), found.courseOf("constructor", "name")]).toEqual([null, null]);
    expect(found.changes[0].earlier).toBe("2026-01");
  });

  it("is none for most sites", () => {
    expect(readSeries(undefined)).toBeNull();
  });

  it.each([
    ["no steps", { ...facts, steps: [] }],
    ["a count that is none", { ...facts, steps: [step("2026-01", "january", Infinity)] }],
    ["a long label", { ...facts, longer: [{ ...told, label: "x".repeat(2000) }] }],
    ["no labels", { ...facts, labels: [] }],
  ])("is refused with %s", (_, wrong) => {
    expect(() => readSeries(wrong)).toThrow(AtlasError);
  });

  it("refuses a course of another length", () => {
    expect(() => readSeries({ ...facts, labels: { origins: { a: [[1, 1]] } } })!.courseOf("origins", "a")).toThrow(AtlasError);
  });
});

describe("the address of a view", () => {
  it("says the same again when it is read", () => {
    const address = { slug: "march-1", period: 7, at: { lon: -8.61234, lat: 41.1, zoom: 12.25 }, place: 3, versus: "april" };
    expect(readAddress(writeAddress(address))).toEqual(address);
  });

  it.each(["#x?p=-1", "#x?p=1e3", "#x?at=1,2", "#x?at=1,2,NaN", "#x?at=999,0,1", "#x?at=0,0,99", "#x?place=a", "#%E0%A4%A?p="])(
    "ignores what it does not understand: %s",
    (hash) => {
      const { period, at, place } = readAddress(hash);
      expect([period, at, place]).toEqual([null, null, null]);
    },
  );

  it("may be empty", () => {
    expect(readAddress("")).toEqual({ slug: null, period: null, at: null, place: null, versus: null });
  });
});

describe("what a map shows", () => {
  const atlas = atlasOf();
  const { names } = atlas.places;

  it("is that of one period", () => {
    const shown = shownAt(atlas, 1);
    expect([...shown.flows!.count]).toEqual([50, 7]);
    expect([...shown.places!.count]).toEqual([20, 40, 60]);
  });

  it("is told in a table, largest first and uncertain last", () => {
    const rows = largest(atlas, names, shownAt(atlas, 0), 5, true);
    expect(rows.map(({ what, count }) => [what, count])).toEqual([
      ["Alpha → Beta", 100],
      ["Beta → <b>Gamma</b>", 3],
    ]);
  });

  it("leaves out what is uncertain unless it is asked for", () => {
    const rows = largest(atlas, names, shownAt(atlas, 0), 5, false);
    expect(rows.map(({ what }) => what)).toEqual(["Alpha → Beta"]);
  });

  it("is told for a place", () => {
    const { out, into } = partnersOf(names, shownAt(atlas, 1), 0, 5);
    expect(out.map(({ what, count }) => [what, count])).toEqual([["Beta", 50]]);
    expect(into.map(({ what, count }) => [what, count])).toEqual([["Beta", 7]]);
  });

  it("begins where most is published", () => {
    expect(busiest(atlas)).toBe(0);
    const later = madeUp();
    // All flows belong to the second period now.
    new DataView(later.bytes).setUint32(later.facts["flows"].starts.at + 4, 0, true);
    expect(busiest(readAtlas(later.facts, later.bytes))).toBe(1);
  });

  it("names what has no name, and tells apart what shares one", () => {
    expect(namesOf(atlasOf("places.names", ["", "Beta", "Beta"]))).toEqual(["place a", "Beta (b)", "Beta (c)"]);
  });

  it("has a course over all periods", () => {
    expect([...courseOf(atlas, 0, null)!.count]).toEqual([10, 20]);
    expect([...courseOf(atlas, 0, 1)!.count]).toEqual([100, 50]);
    expect(courseOf(atlas, 1, 2)!.count[1]).toBeNaN();
    expect(courseOf(atlasOf("totals", null), 0, null)).toBeNull();
  });
});

describe("days", () => {
  const period = (group: string | null, label: string, whole = false) => ({ group, label, whole });

  it("get a slider of their own if all have the same hours", () => {
    const two = [period("Mon", "8"), period("Mon", "9"), period("Tue", "8"), period("Tue", "9")];
    expect(daysOf(two)).toEqual({ names: ["Mon", "Tue"], hours: 2 });
    expect(ticksOf(two).splits).toEqual([0, 2]);
    expect(daysOf([...two, period("Wed", "8")])).toBeNull();
    expect(daysOf([period(null, "8"), period(null, "9")])).toBeNull();
    expect(daysOf([period("Mon", "8"), period("Mon", "9")])).toBeNull();
  });

  it("as a whole are no part of a time axis, and have a scale of their own", () => {
    const [eight, nine] = [period(null, "8"), period(null, "9")];
    expect(partsOf([eight, nine, period(null, "whole day", true)])).toEqual([eight, nine]);
    const made = changed("periods", [eight, { ...nine, whole: true }]);
    const atlas = readAtlas({ ...made.facts, selectable: null }, made.bytes);
    expect(scalesOf(atlas, false, false).flows!.largest).toBe(100);
    expect(scalesOf(atlas, false, true).flows!.largest).toBe(50);
  });
});

describe("a tree", () => {
  it("is unfolded branch by branch", () => {
    const branches = new Branches(atlasOf().tree!);
    expect([...branches.below(-1)]).toEqual([0]);
    expect([...branches.below(0)]).toEqual([1, 2]);
    expect([...branches.below(2)]).toEqual([]);
    expect(branches.path(2)).toEqual([0, 2]);
    expect(branches.beginningAt(0)).toBe(0);
    expect(branches.beginningAt(1)).toBeNull();
  });
});

describe("a difference", () => {
  it("has the errors of both", () => {
    const found = differenceOf(atlasOf(), atlasOf("title", "Other"));
    if (typeof found === "string") throw new Error(found);
    expect([...found.atlas.flows!.count]).toEqual([0, 0, 0, 0]);
    expect(found.atlas.flows!.error[0]).toBeCloseTo(5 * Math.SQRT2, 6);
    expect(found.atlas.totals!.error[0]).toBeCloseTo(Math.SQRT2, 6);
  });

  it("meets places by their ids and leaves out what only one publishes", () => {
    const other = atlasOf("places.ids", ["c", "b", "a"]);
    const found = differenceOf(atlasOf(), other);
    if (typeof found === "string") throw new Error(found);
    // The other one publishes c → b and b → a, then c → b and b → c: none of ours.
    expect(found.atlas.flows!.count.length).toBe(0);
    expect(found.notes.join()).toContain("8 counts");
    expect(found.atlas.totals!.count[0]).toBeNaN();
    expect(found.atlas.totals!.count[1]).toBe(20 - 60);
  });

  it.each([
    ["release_type", "sequences"],
    ["counted", "records"],
    ["periods", [{ label: "8", group: null }, { label: "9", group: null }]],
    ["places.ids", ["x", "y", "z"]],
  ])("says when there can be none: %s", (path, value) => {
    expect(differenceOf(atlasOf(), atlasOf(path as string, value))).toMatch(/cannot be compared/);
  });
});

describe("groups of places", () => {
  const steps = stepsOf(atlasOf());

  it("open as the map comes closer", () => {
    expect(steps).toHaveLength(2);
    expect(stepAt(steps, 1)).toBe(1);
    expect(stepAt(steps, 1e6)).toBe(0);
    expect(steps[1].pixels).toBeLessThan(steps[0].pixels);
  });

  it("keep what is chosen", () => {
    expect([0, 1, 2].map(steps[1].groupOf)).toEqual([0, 0, 1]);
    expect([0, 1].map(steps[1].placeOf)).toEqual([0, 2]);
    expect(largest(steps[1].atlas, steps[1].names, shownAt(steps[1].atlas, 0), 2, true)[0].what).toBe(
      "within Alpha and 1 more",
    );
  });
});

describe("a sum of flows", () => {
  const atlas = atlasOf();
  const sums = new Sums(atlas.selectable!, 3, 2);

  it("has the error of its cells and of what they share", () => {
    const all = sums.sum({ origins: [], destinations: [], periods: [] });
    expect(all.count).toBe(160);
    // Own variances are 9, 4, 16 and 1; the first and the third are of the same pair.
    const grown = (every: number, even: number): number => (every + even) / 2 / every ** 2;
    const together = (a: number, b: number, every: number, even: number): number => 2 * a * b * grown(every, even);
    const periods = 0.03 * (together(9, 4, 13, 15) + together(16, 1, 17, 15));
    const origins = 0.01 * together(9, 16, 25, 15) + 0.01 * together(4, 1, 5, 15);
    const destinations = 0.02 * together(9, 16, 25, 10);
    // No two cells have their origin and period, or their destination and period, in common.
    const effects = periods + origins + destinations + (0.5 * 2 * 9 * 16) / 25;
    expect(all.error ** 2).toBeCloseTo(30 + effects + 0.25, 9);
  });

  it("is as sure as the published total that it is", () => {
    expect(sums.sum({ origins: [], destinations: [], periods: [0] })).toEqual({ count: 103, error: 1.5 });
    expect(sums.sum({ origins: [0, 1], destinations: [], periods: [1] }).error).toBe(100);
  });

  it("may be of nothing", () => {
    expect(sums.sum({ origins: [2], destinations: [0], periods: [] })).toEqual({ count: 0, error: 0 });
  });

  it("takes whole days for their parts", () => {
    const day = (label: string, whole = false) => ({ label, group: null, whole });
    expect(partsIn([day("8"), day("9"), day("all", true)], 2)).toEqual([0, 1]);
    expect(partsIn([day("8"), day("9"), day("all", true)], 1)).toEqual([1]);
  });
});

describe("a legend", () => {
  it("says what is left out", () => {
    const atlas = atlasOf();
    const words = legendWords(atlas, shownAt(atlas, 0).flows, false, false).join(" ");
    expect(words).toContain("more trips");
    expect(words).toContain("1 of 2 flows, with 3% of the trips");
    expect(legendWords(atlas, shownAt(atlas, 0).flows, false, true)).toHaveLength(1);
    const areas = new Scale([200, 500], false, 1, 600);
    const [, theirs] = legendWords(atlas, shownAt(atlas, 0).flows, false, true, areas);
    expect(theirs).toContain("where more trips start, with limits at 200, 500");
  });
});
