import { geoMercatorRaw } from "d3-geo";
import { describe, expect, it } from "vitest";
import { Outlines } from "../src/map/areas";
import { byClass, classOf, extent, roundLimits } from "../src/map/classes";
import { palette } from "../src/map/colours";
import { Frame } from "../src/map/frame";
import { boxesOf, Grid, squaredDistance } from "../src/map/grid";
import { PointIndex } from "../src/map/points";
import { Scale, UNCERTAIN } from "../src/map/scale";
import { fitted, fromScreen, panned, resized, toScreen, zoomed } from "../src/map/view";
import { readAtlas } from "../src/shared/atlas";
import { madeUp } from "./made_up";

describe("the frame of a map", () => {
  const frame = Frame.around([-8.7, 41.1, -8.5, 41.2]);

  it("takes every point back to where it was", () => {
    for (const [lon, lat] of [[-8.7, 41.1], [-8.51, 41.19], [0, 0], [179, -84]]) {
      const back = frame.unproject(...frame.project(lon, lat));
      expect(back[0]).toBeCloseTo(lon, 9);
      expect(back[1]).toBeCloseTo(lat, 9);
    }
  });

  it("is Mercator: a conformal map, north above", () => {
    const [x0, y0] = frame.project(-8.6, 41.1);
    const [x1, y1] = frame.project(-8.5, 41.2);
    const [u0, v0] = geoMercatorRaw((-8.6 * Math.PI) / 180, (41.1 * Math.PI) / 180);
    const [u1, v1] = geoMercatorRaw((-8.5 * Math.PI) / 180, (41.2 * Math.PI) / 180);
    expect((x1 - x0) / (y0 - y1)).toBeCloseTo((u1 - u0) / (v1 - v0), 9);
    expect(y1).toBeLessThan(y0);
  });

  it("is precise to a metre in single precision", () => {
    const flat = frame.projectAll(Float64Array.of(-8.6), Float64Array.of(41.15));
    const [lon, lat] = frame.unproject(flat[0], flat[1]);
    expect(Math.abs(lon + 8.6)).toBeLessThan(1e-5);
    expect(Math.abs(lat - 41.15)).toBeLessThan(1e-5);
  });

  it("holds a single place and the poles", () => {
    const point = Frame.around([5, 50, 5, 50]);
    expect(Number.isFinite(point.pixelsAt(12))).toBe(true);
    expect(frame.project(0, 90).every(Number.isFinite)).toBe(true);
    expect(frame.zoomOf(frame.pixelsAt(11.5))).toBeCloseTo(11.5, 9);
  });
});

describe("a view", () => {
  const frame = Frame.around([-8.7, 41.1, -8.5, 41.2]);
  const view = fitted(frame, 800, 600);

  it("goes on to show everything in a window of another size, until somebody moves it", () => {
    expect(resized(frame, null, 800, 600)).toEqual(view);
    expect(resized(frame, view, 800, 300)).toEqual(fitted(frame, 800, 300));
    const moved = zoomed(frame, view, 2, 10, 10);
    expect(resized(frame, moved, 800, 300)).toEqual({ ...moved, height: 300 });
  });

  it("shows the whole frame at first", () => {
    const [left, top] = toScreen(view, -frame.width / 2, -frame.height / 2);
    expect(left).toBeGreaterThanOrEqual(0);
    expect(top).toBeGreaterThanOrEqual(0);
  });

  it("keeps what is under the pointer there when it zooms", () => {
    const before = fromScreen(view, 300, 250);
    const after = fromScreen(zoomed(frame, view, 3, 300, 250), 300, 250);
    expect(after[0]).toBeCloseTo(before[0], 9);
    expect(after[1]).toBeCloseTo(before[1], 9);
  });

  it("never leaves the city, nor zooms without end", () => {
    const far = panned(frame, view, 1e9, -1e9);
    expect(Math.abs(far.x)).toBeLessThanOrEqual(frame.width / 2);
    expect(frame.zoomOf(zoomed(frame, view, 1e30, 0, 0).pixels)).toBeLessThanOrEqual(20.001);
    expect(zoomed(frame, view, 1e-30, 0, 0).pixels).toBeGreaterThan(0);
  });
});

describe("classes", () => {
  it("have round limits between smallest and largest", () => {
    expect(roundLimits(3, 450, 6)).toEqual([5, 10, 20, 50, 100, 200]);
    expect(roundLimits(1, 1e6, 4)).toHaveLength(4);
    expect(roundLimits(0, 0, 6)).toEqual([]);
    expect(roundLimits(0, Number.NaN, 6)).toEqual([]);
  });

  it("count the limits at or below a value", () => {
    expect([4, 5, 49, 1000].map((value) => classOf([5, 50], value))).toEqual([0, 1, 1, 2]);
  });

  it("span only what is certain", () => {
    const found = extent(Float32Array.of(100, 3, 50, 7), Float32Array.of(5, 2, NaN, 1));
    expect(found).toEqual({ smallest: 7, largest: 100 });
  });

  it("order rows class by class", () => {
    const { order, starts } = byClass(Uint8Array.of(2, 0, 1, 0), 3);
    expect([...order]).toEqual([1, 3, 2, 0]);
    expect([...starts]).toEqual([0, 2, 3, 4]);
  });
});

describe("a scale", () => {
  it("sets apart what is below two standard errors", () => {
    const scale = new Scale([10, 100], false, 1, 500);
    expect(scale.classOf(19.9, 10)).toBe(UNCERTAIN);
    expect(scale.classOf(20, 10)).toBe(2);
    expect(scale.classOf(500, NaN)).toBe(3);
    expect(scale.classOf(NaN, 1)).toBe(UNCERTAIN);
  });

  it("is even on both sides of nothing when it shows differences", () => {
    const scale = new Scale([10, 100], true, 1, 500);
    expect([-500, -50, 1, 50, 500].map((value) => scale.classOf(value, 0))).toEqual([1, 2, 3, 4, 5]);
    expect(scale.strength(1)).toBe(1);
    expect(scale.strength(3)).toBe(0);
    expect([...scale.drawn()].sort()).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it.each(["light", "dark"] as const)("has colours that grow steadily, %s", (scheme) => {
    const lightness = palette(scheme)
      .sequence(7)
      .map((colour) => {
        const [r, g, b] = colour.match(/\d+/g)!.map((part) => (Number(part) / 255) ** 2.2);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      });
    const sorted = [...lightness].sort((a, b) => (scheme === "light" ? b - a : a - b));
    expect(lightness).toEqual(sorted);
  });
});

describe("finding", () => {
  it("meets every box near a point and no other", () => {
    const boxes: number[] = [];
    for (let i = 0; i < 400; i++) {
      const [x, y] = [(i * 37) % 101, (i * 53) % 97];
      boxes.push(x, y, x + (i % 5), y + (i % 3));
    }
    const grid = new Grid(Float32Array.from(boxes));
    for (const [x, y] of [[0, 0], [50, 50], [101, 3], [-20, 10]]) {
      const near = [...Array(400).keys()].filter((i) => {
        const [left, top, right, bottom] = boxes.slice(4 * i, 4 * i + 4);
        return x >= left - 4 && x <= right + 4 && y >= top - 4 && y <= bottom + 4;
      });
      expect(grid.near(x, y, 4).sort((a, b) => a - b)).toEqual(near);
    }
  });

  it("keeps boxes that cover everything out of every cell", () => {
    const many = new Float32Array(4 * 20_000);
    for (let i = 0; i < 20_000; i++) many.set([0, 0, 1, 1], 4 * i);
    expect(new Grid(many).near(0.5, 0.5, 0)).toHaveLength(20_000);
  });

  it("finds nothing where there is nothing", () => {
    expect(new Grid(new Float32Array(0)).near(0, 0, 1)).toEqual([]);
    expect(new PointIndex(new Float32Array(0)).nearest(0, 0, 1)).toBeNull();
  });

  it("takes the nearest point within reach", () => {
    const index = new PointIndex(Float32Array.of(0, 0, 1, 0, 0, 1));
    expect(index.nearest(0.9, 0.1, 0.5)).toBe(1);
    expect(index.nearest(0.5, 0.6, 0.1)).toBeNull();
  });

  it("knows in which area a point lies", () => {
    const { facts, bytes } = madeUp();
    const atlas = readAtlas(facts, bytes);
    const frame = Frame.around(atlas.bounds);
    const outlines = new Outlines(frame, atlas.places.shapes!, 3);
    expect(outlines.at(...frame.project(-8.68, 41.12))).toBe(0);
    expect(outlines.at(...frame.project(-8.56, 41.16))).toBe(1);
    expect(outlines.at(...frame.project(-8.52, 41.11))).toBeNull();
  });

  it("measures to pieces of lines", () => {
    expect(squaredDistance(0, 3, -1, 0, 1, 0)).toBe(9);
    expect(squaredDistance(5, 0, -1, 0, 1, 0)).toBe(16);
    expect(squaredDistance(1, 1, 0, 0, 0, 0)).toBe(2);
  });

  it("boxes parts of lines, also empty ones", () => {
    const boxes = boxesOf(Float32Array.of(0, 1, 2, 3, 4, 5), Uint32Array.of(0, 2, 2, 3));
    expect([...boxes.subarray(0, 4)]).toEqual([0, 1, 2, 3]);
    expect(boxes[4]).toBe(Infinity);
    expect([...boxes.subarray(8, 12)]).toEqual([4, 5, 4, 5]);
  });
});
