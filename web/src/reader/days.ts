import type { Period } from "../shared/atlas";

/** Days that all have the same hours, so that each gets a slider of its own. */
export interface Days {
  readonly names: readonly string[];
  readonly hours: number;
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
