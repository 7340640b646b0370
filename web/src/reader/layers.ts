/** The layers of a map, from the ground up. */

import { AreaLayer, type Fills } from "../map/areas";
import type { Palette } from "../map/colours";
import { curve, FlowLayer, widthOf } from "../map/flows";
import { GroundLayer } from "../map/ground";
import { LabelLayer } from "../map/labels";
import type { Layer, Pen } from "../map/layer";
import { PointLayer } from "../map/points";
import { LinkLayer, RoadLayer } from "../map/roads";
import { Scale, UNCERTAIN } from "../map/scale";
import type { Overlay } from "../map/surface";
import { toScreen, type View } from "../map/view";
import type { Atlas } from "../shared/atlas";
import type { Ground, Partners, Scales, Shown, Values } from "./shown";

export function layersOf(
  atlas: Atlas,
  ground: Ground,
  shown: Shown,
  scales: Scales,
  palette: Palette,
  showUncertain: boolean,
): Layer[] {
  const layers: Layer[] = [];
  if (ground.background) layers.push(new GroundLayer(ground.background, palette, true));
  if (ground.outlines) {
    const filled = shown.places && scales.places;
    layers.push(
      new AreaLayer(ground.outlines, palette, filled ? fills(shown.places!, scales.places!, palette) : null),
    );
    if (ground.background) layers.push(new GroundLayer(ground.background, palette, false));
  }
  if (ground.lines && shown.links && scales.links) {
    const { links } = shown;
    layers.push(new RoadLayer(ground.lines, palette.road));
    layers.push(
      new LinkLayer(
        ground.lines,
        links.link,
        scales.links.order(links.count, links.error),
        scales.links,
        scales.links.colours(palette),
        showUncertain,
      ),
    );
  }
  if (shown.flows && scales.flows) {
    layers.push(
      new FlowLayer(
        ground.points,
        shown.flows,
        scales.flows.order(shown.flows.count, shown.flows.error),
        scales.flows,
        scales.flows.colours(palette),
        showUncertain,
      ),
    );
  }
  if (!atlas.links && !ground.outlines) {
    layers.push(new PointLayer(ground.points, dots(atlas, shown, scales, palette), palette.halo));
  }
  layers.push(new LabelLayer(ground.bySize, atlas.places.names, ground.points, palette));
  return layers;
}

function classes({ count, error }: Values, scale: Scale): Uint8Array {
  return Uint8Array.from(count, (value, i) => scale.classOf(value, error[i]));
}

function fills(values: Values, scale: Scale, palette: Palette): Fills {
  return {
    classes: classes(values, scale),
    faint: Uint8Array.from(values.count, (value) => scale.classOf(value, NaN)),
    published: Uint8Array.from(values.count, (value) => (Number.isNaN(value) ? 0 : 1)),
    colours: scale.colours(palette),
  };
}

function dots(atlas: Atlas, shown: Shown, scales: Scales, palette: Palette) {
  const scale = scales.places;
  const small = atlas.places.ids.length > 2000 ? 0.6 : 1;
  if (shown.places === null || scale === null) {
    return {
      classes: new Uint8Array(atlas.places.ids.length).fill(1),
      colours: [palette.uncertain, palette.ink],
      radii: [2.5 * small, 2.5 * small],
    };
  }
  const colours = scale.diverging
    ? scale.colours(palette)
    : Array.from({ length: scale.classes }, (_, c) => (c === UNCERTAIN ? palette.uncertain : palette.ink));
  const radii = Array.from({ length: scale.classes }, (_, c) => small * (2.2 + 4.8 * scale.strength(c)));
  return { classes: classes(shown.places, scale), colours, radii };
}

/** Marks what is chosen, with its flows above everything else. */
export function markOf(
  atlas: Atlas,
  ground: Ground,
  scales: Scales,
  palette: Palette,
  chosen: number | null,
  partners: Partners,
  path: readonly number[],
): Overlay | null {
  if (path.length > 1) return { below: 0.3, paint: (pen, view) => stops(pen, view, ground, palette, path) };
  if (chosen === null) return null;
  if (ground.lines) {
    const { lines } = ground;
    return {
      below: 1,
      paint: (pen, view) => {
        for (const [width, colour] of [[9, palette.halo], [5, palette.selected]] as const) {
          pen.lineWidth = width;
          pen.strokeStyle = colour;
          pen.lineCap = pen.lineJoin = "round";
          pen.beginPath();
          lines.trace(pen, view, chosen);
          pen.stroke();
        }
      },
    };
  }
  const flows = partners.out.length + partners.into.length > 0;
  return {
    below: flows && scales.flows ? 0.28 : 1,
    paint: (pen, view) => {
      if (scales.flows) {
        for (const [rows, colour, turned] of [
          [partners.into, palette.into, true],
          [partners.out, palette.out, false],
        ] as const) {
          pen.strokeStyle = colour;
          pen.lineCap = "round";
          for (const { count, error, select, partner } of [...rows].reverse()) {
            const strength = scales.flows.strength(scales.flows.classOf(count, error));
            const [from, to] = turned ? [partner!, select] : [select, partner!];
            pen.globalAlpha = scales.flows.classOf(count, error) === UNCERTAIN ? 0.35 : 0.9;
            pen.lineWidth = Math.max(1, widthOf(strength));
            pen.beginPath();
            const { points } = ground;
            curve(pen, view, points[2 * from], points[2 * from + 1], points[2 * to], points[2 * to + 1]);
            pen.stroke();
          }
        }
        pen.globalAlpha = 1;
      }
      if (ground.outlines) {
        pen.beginPath();
        ground.outlines.trace(pen, view, chosen);
        pen.lineJoin = "round";
        pen.strokeStyle = palette.halo;
        pen.lineWidth = 5;
        pen.stroke();
        pen.strokeStyle = palette.selected;
        pen.lineWidth = 2.5;
        pen.stroke();
      } else ring(pen, view, ground.points, chosen, palette, 8);
      if (atlas.layer !== "totals") ring(pen, view, ground.points, chosen, palette, 5);
    },
  };
}

function ring(pen: Pen, view: View, points: Float32Array, place: number, palette: Palette, radius: number): void {
  const [x, y] = toScreen(view, points[2 * place], points[2 * place + 1]);
  pen.beginPath();
  pen.arc(x, y, radius, 0, 2 * Math.PI);
  pen.fillStyle = palette.selected;
  pen.strokeStyle = palette.halo;
  pen.lineWidth = 3;
  pen.stroke();
  pen.fill();
}

/** A sequence of stops, numbered on its way. */
function stops(pen: Pen, view: View, ground: Ground, palette: Palette, path: readonly number[]): void {
  const { points } = ground;
  pen.strokeStyle = palette.out;
  pen.lineWidth = 3;
  pen.lineCap = "round";
  for (let i = 1; i < path.length; i++) {
    const [from, to] = [2 * path[i - 1], 2 * path[i]];
    pen.beginPath();
    curve(pen, view, points[from], points[from + 1], points[to], points[to + 1]);
    pen.stroke();
  }
  pen.font = "600 11px system-ui, sans-serif";
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  path.forEach((place, i) => {
    const [x, y] = toScreen(view, points[2 * place], points[2 * place + 1]);
    pen.beginPath();
    pen.arc(x, y, 9, 0, 2 * Math.PI);
    pen.fillStyle = palette.selected;
    pen.fill();
    pen.fillStyle = palette.land;
    pen.fillText(String(i + 1), x, y + 0.5);
  });
}
