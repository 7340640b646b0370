/** What several releases say as a series: everything and every label step by step, and what changed. */

import { AtlasError, finite, list, maybeText, object, text } from "./columns";

export interface Step {
  readonly name: string;
  /** The release; null if there is none of this step. */
  readonly slug: string | null;
  readonly count: number;
  readonly error: number;
}

export interface Told {
  readonly label: string;
  readonly count: number;
  readonly low: number;
  readonly high: number;
}

export interface Change extends Told {
  readonly earlier: string;
  readonly later: string;
}

export interface Course {
  readonly count: readonly number[];
  readonly error: readonly number[];
}

export interface SiteSeries {
  readonly step: string;
  readonly counted: string;
  readonly steps: readonly Step[];
  readonly longer: readonly Told[];
  readonly changes: readonly Change[];
  /** By dimension and id: the count in every step, not a number where there is none. */
  courseOf(dimension: string, id: string): Course | null;
  readonly dimensions: readonly string[];
}

const MOST_STEPS = 20_000;
const LARGEST = 1e15;

/** Reads the series of a site; null if its releases are none. */
export function readSeries(value: unknown): SiteSeries | null {
  if (value === undefined || value === null) return null;
  const facts = object(value, "series");
  const steps = list(facts["steps"], "steps", MOST_STEPS).map(readStep);
  if (steps.length === 0) throw new AtlasError("The series has no steps.");
  const labels = object(facts["labels"], "labels");
  return {
    step: text(facts["step"], "step", 20),
    counted: text(facts["counted"], "counted", 100),
    steps,
    longer: list(facts["longer"], "longer", MOST_STEPS).map(told),
    changes: list(facts["changes"], "changes", 1000).map((one) => {
      const found = object(one, "changes");
      return { ...told(one), earlier: text(found["earlier"], "earlier", 20), later: text(found["later"], "later", 20) };
    }),
    dimensions: Object.keys(labels),
    courseOf: (dimension, id) => {
      const named = Object.hasOwn(labels, dimension) ? object(labels[dimension], dimension) : {};
      return Object.hasOwn(named, id) ? course(named[id], steps.length) : null;
    },
  };
}

function readStep(value: unknown): Step {
  const facts = object(value, "steps");
  const slug = maybeText(facts["slug"], "slug", 200);
  const known = slug !== null;
  return {
    name: text(facts["name"], "name", 20),
    slug,
    count: known ? finite(facts["count"], "count", 0, LARGEST) : NaN,
    error: known ? finite(facts["error"], "error", 0, LARGEST) : NaN,
  };
}

function told(value: unknown): Told {
  const facts = object(value, "told");
  return {
    label: text(facts["label"], "label", 1000),
    count: finite(facts["count"], "count", -LARGEST, LARGEST),
    low: finite(facts["low"], "low", -LARGEST, LARGEST),
    high: finite(facts["high"], "high", -LARGEST, LARGEST),
  };
}

function course(value: unknown, length: number): Course {
  const found = list(value, "course", length);
  if (found.length !== length) throw new AtlasError("A course has another number of steps than the series.");
  const both = found.map((one) =>
    one === null ? [NaN, NaN] : list(one, "course", 2).map((part) => finite(part, "course", 0, LARGEST)),
  );
  return { count: both.map(([count]) => count ?? NaN), error: both.map(([, error]) => error ?? NaN) };
}
