/** Curves of error against budget, from points that come one by one. */

import { approximately, type CurvePoint, type FigureError } from "./results";

/** Budgets that are tried: from one that says little to one that protects little. */
export const BUDGETS = ["0.1", "0.2", "0.3", "0.5", "0.75", "1", "1.5", "2", "3", "4", "6", "10"] as const;

export interface ErrorCurve {
  readonly figure: string;
  readonly values: readonly number[];
}

export interface Curves {
  readonly epsilons: readonly number[];
  readonly curves: readonly ErrorCurve[];
  /** True if errors are shares of what is counted. */
  readonly shares: boolean;
}

export function curvesOf(points: readonly CurvePoint[]): Curves {
  const sorted = [...points].sort((a, b) => approximately(a.epsilon) - approximately(b.epsilon));
  const figures = [...new Set(sorted.flatMap(({ errors }) => errors.map(({ figure }) => figure)))];
  const all = sorted.flatMap(({ errors }) => errors);
  const shares = all.length > 0 && all.every(({ share }) => share !== null);
  return {
    epsilons: sorted.map(({ epsilon }) => approximately(epsilon)),
    shares,
    curves: figures.map((figure) => ({
      figure,
      values: sorted.map(({ errors }) => {
        const found = errors.find((one) => one.figure === figure);
        return found === undefined ? NaN : shares ? (found.share ?? NaN) : found.error;
      }),
    })),
  };
}

/** The point at a budget, if it is known already. */
export function pointAt(points: readonly CurvePoint[], epsilon: string): readonly FigureError[] | null {
  const wanted = approximately(epsilon);
  return points.find((one) => Math.abs(approximately(one.epsilon) - wanted) < 1e-9)?.errors ?? null;
}

/** Where a budget stands among those that are tried. */
export function nearest(budgets: readonly string[], epsilon: string): number {
  const wanted = Math.log(approximately(epsilon) || 1);
  let best = 0;
  budgets.forEach((one, i) => {
    if (Math.abs(Math.log(approximately(one)) - wanted) < Math.abs(Math.log(approximately(budgets[best])) - wanted)) best = i;
  });
  return best;
}

/** The budgets of the slider, with the plan's own among them. */
export function budgetsWith(epsilon: string): string[] {
  const own = approximately(epsilon);
  const all: string[] = BUDGETS.filter((one) => !(Math.abs(Number(one) - own) <= 1e-9));
  if (own > 0 && Number.isFinite(own)) all.push(epsilon);
  return all.sort((a, b) => approximately(a) - approximately(b));
}
