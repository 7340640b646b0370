/** What the workbench's server is asked, and how it refuses. */

import { keepSession, sessionHeaders, tokenIn } from "./session";

export class Refusal extends Error {
  constructor(
    message: string,
    readonly advice: string,
    readonly notes: readonly string[] = [],
    readonly status = 0,
  ) {
    super(message);
  }
}

export interface ListedPlan {
  readonly id: string;
  readonly name: string;
  readonly title: string | null;
  readonly release_type: string | null;
  readonly published: boolean;
  /** What the readers' pages call its release. */
  readonly slug?: string | null;
}

export interface State {
  readonly version: string;
  readonly plans: readonly ListedPlan[];
  readonly release_types: readonly { readonly name: string; readonly title: string }[];
  readonly reader: string | null;
}

export type Facts = { readonly [name: string]: unknown };

export interface Plan {
  readonly id: string;
  readonly name: string;
  readonly revision: string;
  readonly text: string;
  readonly facts: Facts | null;
  readonly problems: readonly string[];
  readonly release_type: string | null;
  /** What a guess of the crowd counts, such as "trips". */
  readonly guessed: string;
  readonly published?: boolean;
}

export interface Listed {
  readonly id: string;
  readonly kind: string;
  readonly plan: string;
  readonly state: "running" | "done" | "failed" | "interrupted";
}

/** Asks the server; what it refuses is thrown in its own words. */
export async function ask<T>(path: string, method = "GET", body?: unknown): Promise<T> {
  let answer: Response;
  try {
    answer = await fetch(path, {
      method,
      headers: { ...sessionHeaders(), ...(method === "GET" ? {} : { "Content-Type": "application/json" }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  } catch {
    throw new Refusal(
      "The workbench does not answer.",
      "Look whether hushway serve is still running, and reload this page.",
    );
  }
  const facts: unknown = await answer.json().catch(() => null);
  if (!answer.ok) throw refusalOf(facts, answer.status);
  return facts as T;
}

/** Comes in, if the address of this page is the one that lets a browser in. */
export async function comeIn(): Promise<void> {
  const token = tokenIn(location.hash);
  if (token === null) return;
  // It is used up by this, and belongs into no history.
  history.replaceState(null, "", location.pathname);
  try {
    keepSession((await ask<{ session: string }>("api/enter", "POST", { token })).session);
  } catch (error) {
    // Whoever opens a used address in the browser that it has let in is still in.
    if (!("Authorization" in sessionHeaders())) throw error;
  }
}

export function refusalOf(facts: unknown, status = 0): Refusal {
  const found = (typeof facts === "object" && facts !== null ? facts : {}) as Facts;
  const text = (name: string): string => (typeof found[name] === "string" ? found[name] : "");
  const notes = Array.isArray(found["notes"]) ? found["notes"].map(String) : [];
  const unknown = `The workbench answered with an error (${status}).`;
  return new Refusal(text("message") || unknown, text("advice"), notes, status);
}

/** Anything that went wrong, as a refusal. */
export function asRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  return new Refusal("This page made a mistake.", "Reload it. Nothing was spent by that.");
}
