import type { Period } from "../shared/atlas";

/** Days that all have the same hours, so that each gets a slider of its own. */
export interface Days {
  readonly names: readonly string[];
  readonly hours: number;
}

/** Periods that are parts of days: those of a time axis. */
export function partsOf(periods: readonly Period[]): readonly Period[] {
  return periods.filter(({ whole }) => !whole);
}

export function daysOf(periods: readonly Period[]): Days | null {
  const hours = periods.findIndex(({ group }) => group !== periods[0].group);
  if (hours < 2 || periods[0].group === null || periods.length % hours !== 0) return null;
  const names: string[] = [];
  for (let start = 0; start < periods.length; start += hours) {
    const group = periods[start].group;
    if (group === null) return null;
    for (let hour = 0; hour < hours; hour++) {
      const one = periods[start + hour];
      if (one.group !== group || one.label !== periods[hour].label) return null;
    }
    names.push(group);
  }
  return { names, hours };
}

/** Marks of a time axis: days where there are several, hours otherwise. */
export function ticksOf(periods: readonly Period[]): {
  splits: readonly number[] | null;
  labels: (x: number) => string;
} {
  const days = daysOf(periods);
  if (days === null) return { splits: null, labels: (x) => periods[x]?.label ?? "" };
  const every = Math.ceil(days.names.length / 7);
  const splits = days.names.map((_, day) => day * days.hours).filter((_, day) => day % every === 0);
  // "Mon 10" of "Mon 10 Sep" has room below a small chart.
  return { splits, labels: (x) => (periods[x]?.group ?? "").split(" ").slice(0, 2).join(" ") };
}
