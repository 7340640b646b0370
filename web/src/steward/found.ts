/** What `check` has found, in words. */

import type { Facts } from "./api";

export interface Telling {
  readonly what: string;
  readonly value: string;
}

const FILES = /^(trips|taps|sequences|events|traces|file|areas|towers|pairs|network|roads|url|folder|format|nodes|links|edges)$/;

/** Files and tables that a plan names, in its own words. */
export function pathsIn(facts: Facts | null): { name: string; value: string }[] {
  const found: { name: string; value: string }[] = [];
  for (const [section, values] of Object.entries(facts ?? {})) {
    if (typeof values !== "object" || values === null) continue;
    for (const [name, value] of Object.entries(values as Facts)) {
      const texts = Array.isArray(value) ? value.filter((one) => typeof one === "string") : [value];
      if (FILES.test(name) && texts.length > 0 && texts.every((one) => typeof one === "string")) {
        found.push({ name: `${section}.${name}`, value: texts.join(", ") });
      }
    }
  }
  return found;
}

const MOST = 60;
const MOST_OF_A_KIND = 12;

/** Every fact as a line; lists of numbers are pictures for other places. */
export function tellings(found: Facts): Telling[] {
  const lines: Telling[] = [];
  walk(found, "", lines);
  return lines.slice(0, MOST);
}

function walk(value: unknown, name: string, lines: Telling[]): void {
  if (value === null || value === undefined) return;
  if (Array.isArray(value)) {
    if (value.every((one) => typeof one === "object" && one !== null)) {
      for (const one of (value as Facts[]).slice(0, MOST_OF_A_KIND)) {
        const said = sentence(one);
        if (said !== null) {
          lines.push(said);
          continue;
        }
        const label = [one["what"], one["option"]].find((text) => typeof text === "string");
        walk(Object.fromEntries(Object.entries(one).filter(([key]) => key !== "what" && key !== "option")), joined(name, label ?? ""), lines);
      }
    } else if (value.length <= 3) lines.push({ what: name, value: value.map((one) => told(one)).join(" to ") });
    return;
  }
  if (typeof value === "object") {
    for (const [key, inner] of Object.entries(value)) walk(inner, joined(name, key), lines);
    return;
  }
  lines.push({ what: name, value: told(value, name) });
}

/** A limit, or a name that is not listed, in words. */
function sentence(fact: Facts): Telling | null {
  if ("cut_off" in fact)
    return {
      what: `limit of ${told(fact["limit"])} ${String(fact["what"])} (${String(fact["option"])})`,
      value: `${told(fact["owners_above"])} of ${told(fact["owners"])} have more; it leaves out ${told(fact["cut_off"], "share")} of the ${String(fact["what"])}`,
    };
  if ("nearest" in fact)
    return {
      what: `not listed: ${String(fact["name"])}`,
      value: `${told(fact["rows"])} rows${fact["nearest"] === null ? "" : `; most like ${String(fact["nearest"])}`}`,
    };
  return null;
}

function joined(before: string, name: string): string {
  const words = name.replaceAll("_", " ");
  return before === "" ? words : words === "" ? before : `${before}: ${words}`;
}

function told(value: unknown, name = ""): string {
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value !== "number") return String(value);
  if (/cut.off|share/.test(name)) return `${(100 * value).toLocaleString("en", { maximumFractionDigits: 1 })}%`;
  return value.toLocaleString("en", { maximumFractionDigits: 2 });
}
