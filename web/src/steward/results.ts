/** What tasks answer: the same as the command line's --json. */

import type { Facts } from "./api";

export interface Problem {
  readonly kind: string;
  readonly message: string;
  readonly count: number | null;
  readonly advice: string;
  readonly severity: string;
}

export interface CheckResult {
  readonly for: string;
  readonly usable: boolean;
  readonly found: Facts;
  readonly problems: readonly Problem[];
  /** What would be known of so many rows. */
  readonly worth?: string | null;
  readonly rows?: string;
  readonly universe?: string;
}

export interface FigureError {
  readonly figure: string;
  readonly error: number;
  readonly size: number | null;
  readonly share: number | null;
}

/** What would be known of a release. */
export interface Worth {
  readonly sentence: string;
  readonly little: boolean;
}

/** The finest places and periods of which enough would be known; changes are by option, null takes one out. */
export interface Proposal {
  readonly words: string;
  readonly sentence: string;
  readonly changes: Readonly<Record<string, unknown>>;
}

export interface PriceResult {
  readonly measure: string;
  readonly cost: string;
  readonly charge: string | null;
  readonly remaining: string | null;
  readonly affordable: boolean;
  readonly obstacle: string | null;
  readonly cells: number | null;
  readonly forecasts: readonly { readonly figure: string; readonly standard_error: number; readonly bias: number }[];
  readonly expected: { readonly errors: readonly FigureError[]; readonly notes: readonly string[] } | null;
  readonly worth?: Worth;
  readonly proposal?: Proposal | null;
  readonly loss?: string;
  readonly account?: Facts | null;
  readonly account_key?: string;
  readonly counted?: string;
}

export interface CurvePoint {
  readonly epsilon: string;
  readonly errors: readonly FigureError[];
}

export interface CurveResult {
  readonly foreseen: boolean;
  readonly counted: string;
  readonly curve: readonly CurvePoint[];
}

export interface PreviewResult {
  readonly picture: string | null;
  readonly caption: string;
  readonly errors: readonly FigureError[];
  readonly fleet: FleetSize | null;
  readonly note?: string | null;
}

export interface FleetSize {
  readonly hours: string | null;
  readonly vehicles: number;
  readonly vehicles_without_noise: number | null;
  readonly zones: readonly { readonly zone: string; readonly vehicles: number }[];
}

export interface PublishResult {
  readonly release: string;
  readonly folder?: string;
  readonly claim: string;
  readonly slug?: string;
}

export interface AskResult {
  readonly counted: string;
  readonly of: string;
  readonly warning: string | null;
  readonly answers: readonly { readonly label: string; readonly value: number; readonly low: number; readonly high: number | null }[];
  readonly notes: readonly string[];
}

export interface Account {
  readonly key: string;
  readonly dataset?: string;
  readonly period?: string;
  readonly unit: string;
  readonly release_type: string | null;
  readonly people: string | null;
  readonly symbol: string;
  readonly delta: string | null;
  readonly limit: string;
  readonly limit_value: number;
  readonly spent: string;
  readonly spent_value: number;
  readonly left: string;
  readonly left_value: number;
}

export interface Charge {
  readonly when: string;
  readonly release: string | null;
  readonly release_type?: string | null;
  readonly purpose: string | null;
  readonly window: string | null;
  readonly account: string;
  readonly symbol?: string | null;
  readonly amount: string;
  readonly amount_value: number;
  readonly state: string;
}

export interface Book {
  readonly accounts: readonly Account[];
  readonly entries: readonly Charge[];
  readonly people?: readonly Lost[];
  readonly cautions: readonly string[];
}

/** What became of a verification: every check, and whether all hold. */
export interface VerifyResult {
  readonly passed: boolean;
  readonly warning: string | null;
  readonly checks: readonly { readonly name: string; readonly outcome: "passed" | "absent" | "failed"; readonly sentence: string }[];
}

export interface RevisedResult {
  readonly folder: string;
}

export interface CertificateResult {
  readonly sentences: Facts;
  readonly page: string;
}

const DIGITS = 1e12;

/** What one of a group of people may have lost in their data sets. */
export interface Lost {
  readonly people: string | null;
  readonly datasets: readonly string[];
  readonly lost: readonly { unit: string; releases: number; epsilon: string | number; rho: string | number; note: string | null }[];
}

/** That in words: "one person at most ε = 1 in 1 release". */
export function lostInWords({ lost }: Lost): string[] {
  return lost.map(({ unit, releases, epsilon, rho, note }) => {
    const amounts = Object.entries({ ε: String(epsilon), ρ: String(rho) }).filter(([, exact]) => approximately(exact) > 0);
    const most = amounts.map(([symbol, exact]) => `${symbol} = ${written(exact)}`).join(" and ");
    const said = `One ${unit} at most ${most || "nothing"}, in ${releases} ${releases === 1 ? "release" : "releases"}.`;
    return note === null ? said : `${said} ${note}`;
  });
}

/** An exact amount as people write it: "1/2" is 0.5, and a long fraction is about so much; nothing where there is none yet. */
export function written(exact: string | null): string {
  if (exact === null) return "";
  const value = approximately(exact);
  if (!Number.isFinite(value)) return exact;
  const below = Number(exact.split("/")[1] ?? 1);
  if (DIGITS % below === 0) return value.toLocaleString("en", { maximumFractionDigits: 12 });
  return `about ${value.toLocaleString("en", { maximumSignificantDigits: 3 })}`;
}

/** "1/2" and "0.5" as numbers, for axes and bars; never for what is spent. */
export function approximately(exact: string): number {
  const [above, below] = exact.split("/");
  return Number(above) / Number(below ?? 1);
}
