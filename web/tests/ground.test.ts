import { describe, expect, it } from "vitest";
import { palette } from "../src/map/colours";
import { Frame } from "../src/map/frame";
import { GroundLayer, placed, readBackground } from "../src/map/ground";
import { bySize, chosen } from "../src/map/labels";
import type { Pen } from "../src/map/layer";
import { fitted } from "../src/map/view";
import { AtlasError, readAtlas } from "../src/shared/atlas";
import { madeUp } from "./made_up";

const frame = Frame.around([-8.7, 41.1, -8.5, 41.2]);
const view = fitted(frame, 800, 600);
const RING = [[-8.65, 41.12], [-8.6, 41.12], [-8.6, 41.15], [-8.65, 41.12]];

function ground(kind: string, coordinates: unknown): unknown {
  return { type: "FeatureCollection", features: [{ properties: { kind }, geometry: { coordinates } }] };
}

/** Notes what is drawn. */
function notes(): { pen: Pen; drawn: string[] } {
  const drawn: string[] = [];
  const pen = { beginPath() {}, moveTo() {}, lineTo: () => drawn.push("line"), fill: () => drawn.push("fill"), stroke: () => drawn.push("stroke") };
  return { pen: pen as unknown as Pen, drawn };
}

describe("ground", () => {
  it("is drawn: water is filled, lines are stroked", () => {
    for (const [kind, coordinates, how] of [["water", [[RING]], "fill"], ["road", [RING], "stroke"]] as const) {
      const { pen, drawn } = notes();
      const parts = placed(frame, readBackground(ground(kind, coordinates)));
      for (const _ of new GroundLayer(parts, palette("light"), true).paint(pen, view));
      expect(drawn).toEqual(["line", "line", "line", how]);
    }
  });

  it("hides no areas that are filled by their counts", () => {
    const { pen, drawn } = notes();
    const parts = placed(frame, readBackground(ground("water", [[RING]])));
    for (const _ of new GroundLayer(parts, palette("dark"), false).paint(pen, view));
    expect(drawn).toEqual([]);
  });

  it.each([
    null,
    {},
    { features: [null] },
    ground("people", [RING]),
    ground("road", [[[0, 0], [500, 1]]]),
    ground("road", [[[0, 0, 7], [1, 1, 7]]]),
    ground("road", [[["0", 0]]]),
    ground("water", [RING]),
    { features: Array.from({ length: 6 }, () => ground("road", [RING])) },
  ])("is a stranger's file, and read strictly (%#)", (value) => {
    expect(() => readBackground(value)).toThrow(AtlasError);
  });
});

describe("labels", () => {
  const points = frame.projectAll(Float64Array.of(-8.65, -8.649, -8.55), Float64Array.of(41.15, 41.15, 41.15));
  const order = Uint32Array.of(1, 0, 2);
  const wide = (name: string, px: number): number => name.length * px;

  it("name the larger of two places that stand too close", () => {
    const labels = chosen(order, ["Small", "Large", "Far"], points, view, wide);
    expect(labels.map((one) => one.name)).toEqual(["Large", "Far"]);
  });

  it("find room for the smaller one as readers come closer", () => {
    const near = { ...view, x: points[0], y: points[1], pixels: 100 * view.pixels };
    const labels = chosen(order, ["Small", "Large", "Far"], points, near, wide);
    expect(labels.map((one) => one.name)).toEqual(["Large", "Small"]);
  });

  it("cut long names, and leave out places without one", () => {
    const labels = chosen(order, [" ", "x".repeat(60), ""], points, view, () => 10);
    expect(labels.map((one) => one.name.length)).toEqual([26]);
  });

  it("come in the order of what is published", () => {
    const made = madeUp();
    const atlas = readAtlas(made.facts, made.bytes);
    const order = bySize({ ...atlas, totals: null });
    const sum = (place: number): number =>
      [...atlas.flows!.count].reduce(
        (all, count, i) =>
          all + count * (Number(atlas.flows!.origin[i] === place) + Number(atlas.flows!.destination[i] === place)),
        0,
      );
    expect([...order].map(sum)).toEqual([...order].map(sum).sort((a, b) => b - a));
  });
});
