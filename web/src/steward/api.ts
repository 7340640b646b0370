/** Requests to the workbench's server, and its errors. */

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
  /** The slug of its release in the readers' pages. */
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
  /** Files and columns that it names and that are not there. */
  readonly missing?: readonly string[];
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

/** Sends a request; an error of the server is thrown with its message. */
export async function ask<T>(path: string, method = "GET", body?: unknown): Promise<T> {
  return answerOf(path, {
    method,
    headers: { ...sessionHeaders(), ...(method === "GET" ? {} : { "Content-Type": "application/json" }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

/** Sends a file as it is. */
export async function send(path: string, file: File): Promise<void> {
  await answerOf(path, { method: "PUT", headers: sessionHeaders(), body: file });
}

async function answerOf<T>(path: string, request: RequestInit): Promise<T> {
  let answer: Response;
  try {
    answer = await fetch(path, request);
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

/** Logs in, if the address of this page is a login link. */
export async function logIn(): Promise<void> {
  const token = tokenIn(location.hash);
  if (token === null) return;
  // The token works once, and must not stay in the browser's history.
  history.replaceState(null, "", location.pathname);
  try {
    keepSession((await ask<{ session: string }>("api/login", "POST", { token })).session);
  } catch (error) {
    // A used link, opened in the browser that is logged in already, is no error.
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

/** Any error as a refusal. */
export function asRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  return new Refusal("This page made a mistake.", "Reload it. Nothing was spent by that.");
}
