/** Events of the server, followed by a request with a header: EventSource could send none. */

import { Refusal, refusalOf } from "./api";
import { sessionHeaders } from "./session";

export interface Told {
  readonly id: string;
  readonly name: string;
  readonly data: string;
}

const PAUSE_MS = 3000;
const MOST_FAILURES = 20;

/** Tells every event of a task, also after a connection has broken; ends when it is told to. */
export async function listen(path: string, hear: (told: Told) => void, signal: AbortSignal): Promise<void> {
  let last = "";
  for (let failures = 0; failures < MOST_FAILURES; failures++) {
    try {
      const answer = await fetch(path, {
        headers: { ...sessionHeaders(), ...(last === "" ? {} : { "Last-Event-ID": last }) },
        signal,
      });
      if (!answer.ok) throw refusalOf(await answer.json().catch(() => null), answer.status);
      for await (const told of eventsOf(answer)) {
        last = told.id;
        failures = 0;
        hear(told);
      }
    } catch (error) {
      if (!signal.aborted && error instanceof Refusal) throw error;
    }
    if (signal.aborted) return;
    await new Promise((done) => setTimeout(done, PAUSE_MS));
    if (signal.aborted) return;
  }
  throw new Refusal(
    "The connection to the task was lost.",
    "It may still be at work: reload this page to see how it stands.",
  );
}

async function* eventsOf(answer: Response): AsyncGenerator<Told> {
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const piece = await reader?.read();
    if (piece === undefined || piece.done) return;
    const blocks = (rest + piece.value).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const told = eventIn(block);
      if (told !== null) yield told;
    }
  }
}

/** Reads one event; null if it is only a sign of life. */
export function eventIn(block: string): Told | null {
  const fields = new Map(
    block.split("\n").map((line): [string, string] => {
      const at = line.indexOf(": ");
      return [line.slice(0, at), line.slice(at + 2)];
    }),
  );
  const [id, name, data] = ["id", "event", "data"].map((field) => fields.get(field));
  return id === undefined || name === undefined || data === undefined ? null : { id, name, data };
}
