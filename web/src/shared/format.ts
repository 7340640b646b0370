/** Numbers and sentences as readers see them. */

const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const FINE = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });

/** A number without false precision: whole from ten on, three digits below. */
export function number(value: number): string {
  if (!Number.isFinite(value)) return "unknown";
  const shown = Math.abs(value) >= 10 ? WHOLE.format(value) : FINE.format(value);
  return shown === "-0" ? "0" : shown.replace("-", "−");
}

const SHORT = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });

/** "10K": where there is little room. */
export function short(value: number): string {
  return SHORT.format(value);
}

const NORMAL_95 = 1.96;

export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** What 95 of 100 such intervals hold; counts are never below 0. */
export function interval(count: number, error: number, floor = 0): Interval | null {
  if (!Number.isFinite(error)) return null;
  return {
    low: Math.max(floor, count - NORMAL_95 * error),
    high: Math.max(floor, count + NORMAL_95 * error),
  };
}

/** "412 (380 to 444)". */
export function withInterval(count: number, error: number, floor = 0): string {
  if (Number.isNaN(count)) return "not published";
  const found = interval(count, error, floor);
  if (found === null) return `${number(count)} (error not known)`;
  // All three with the precision of the largest: nobody knows tenths beside tens.
  const shown = Math.max(-found.low, found.high) >= 10 ? (value: number) => number(Math.round(value)) : number;
  return `${shown(count)} (${shown(found.low)} to ${shown(found.high)})`;
}

/** A difference, with its sign and what it may be. */
export function difference(value: number, error: number): string {
  if (Number.isNaN(value)) return "not published by both";
  const sign = value > 0 ? "+" : "";
  return sign + withInterval(value, error, -Infinity);
}

/** True if a count is less than two standard errors away from nothing. */
export function uncertain(count: number, error: number): boolean {
  return Math.abs(count) < 2 * error;
}

/** "Mon 3 Mar, 08:00". */
export function periodName(period: { label: string; group: string | null }): string {
  return period.group === null ? period.label : `${period.group}, ${period.label}`;
}

export function bytes(size: number): string {
  if (size < 1000) return `${size} bytes`;
  if (size < 1e6) return `${FINE.format(size / 1e3)} kB`;
  return `${FINE.format(size / 1e6)} MB`;
}

export function capital(sentence: string): string {
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}
