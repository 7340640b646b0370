/** A line with its 95% band, drawn by uPlot. */

import uPlot from "uplot";
import { interval, number } from "../shared/format";

export interface Line {
  readonly name: string;
  readonly values: ArrayLike<number>;
  readonly errors: ArrayLike<number> | null;
  readonly colour: string;
}

export interface ChartColours {
  readonly ink: string;
  readonly grid: string;
}

export interface ChartPlan {
  readonly x: ArrayLike<number>;
  readonly lines: readonly Line[];
  readonly labels: (x: number) => string;
  /** Where the marks of the axis stand; null leaves that to the chart. */
  readonly splits: readonly number[] | null;
  readonly colours: ChartColours;
  readonly marked: number | null;
  readonly floor: number;
  readonly logarithmic: boolean;
  readonly pick: ((index: number) => void) | null;
  readonly height: number;
}

export function chart(node: HTMLElement, plan: ChartPlan): uPlot {
  const series: uPlot.Series[] = [{}];
  const data: (number | null)[][] = [Array.from(plan.x)];
  const bands: uPlot.Band[] = [];
  const known = (value: number): number | null => (Number.isFinite(value) ? value : null);
  for (const { name, values, errors, colour } of plan.lines) {
    if (errors) {
      const both = Array.from(values, (value, i) => interval(value, errors[i], plan.floor));
      data.push(both.map((one) => known(one?.high ?? NaN)), both.map((one) => known(one?.low ?? NaN)));
      const edge = { stroke: "transparent", width: 0, points: { show: false } };
      series.push({ ...edge, label: `${name}, high` }, { ...edge, label: `${name}, low` });
      bands.push({ series: [series.length - 2, series.length - 1], fill: translucent(colour) });
    }
    data.push(Array.from(values, known));
    series.push({
      label: name,
      stroke: colour,
      width: 2,
      points: { show: plan.x.length <= 48, size: 5, fill: colour },
    });
  }
  const axis = {
    stroke: plan.colours.ink,
    grid: { stroke: plan.colours.grid, width: 1, ...(plan.logarithmic ? { filter: roundOnes } : {}) },
    ticks: { show: false },
    font: "11px system-ui, sans-serif",
  };
  const made = new uPlot(
    {
      width: Math.max(120, node.clientWidth),
      height: plan.height,
      legend: { show: false },
      cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
      scales: {
        x: plan.logarithmic ? { time: false, distr: 3 } : { time: false },
        y: plan.logarithmic
          ? { distr: 3 }
          : {
              range: (_, low, high) => [
                Math.min(plan.floor === 0 ? 0 : (low ?? 0), 0),
                (high ?? 1) <= 0 && plan.floor === 0 ? 1 : 1.06 * Math.max(high ?? 1, 0),
              ],
            },
      },
      axes: [
        { ...axis, size: 28, ...(plan.splits ? { splits: () => [...plan.splits!] } : {}), values: (_, splits) => splits.map((x) => plan.labels(x)) },
        { ...axis, size: 46, values: (_, splits) => splits.map((y) => (y === null ? "" : number(y))) },
      ],
      series,
      bands,
      hooks: { draw: [(drawn) => mark(drawn, plan)] },
    },
    data as unknown as uPlot.AlignedData,
    node,
  );
  if (plan.pick) {
    made.over.addEventListener("click", () => {
      const index = made.cursor.idx;
      if (index !== null && index !== undefined) plan.pick?.(index);
    });
  }
  return made;
}

/** Of the many lines of a logarithmic axis, those at powers of ten. */
function roundOnes(_: uPlot, splits: number[]): (number | null)[] {
  return splits.map((split) => (Number.isInteger(Math.round(1e6 * Math.log10(split)) / 1e6) ? split : null));
}

/** A line where the map is in time, or the budget is on its axis. */
function mark(drawn: uPlot, { marked, colours }: ChartPlan): void {
  if (marked === null) return;
  const x = Math.round(drawn.valToPos(marked, "x", true));
  const { ctx: pen } = drawn;
  pen.save();
  pen.strokeStyle = colours.ink;
  pen.lineWidth = 1.5;
  pen.setLineDash([4, 3]);
  pen.beginPath();
  pen.moveTo(x, drawn.bbox.top);
  pen.lineTo(x, drawn.bbox.top + drawn.bbox.height);
  pen.stroke();
  pen.restore();
}

function translucent(colour: string): string {
  return colour.replace(/^rgb\((.*)\)$/, "rgba($1,.2)");
}
