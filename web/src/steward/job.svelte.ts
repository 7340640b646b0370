/** A task of the server, followed while it works. */

import { ask, asRefusal, type Refusal, refusalOf } from "./api";
import { listen, type Told } from "./events";

interface Progress {
  readonly text: string;
  readonly share: number | null;
}

export class Job<Result, Part = never> {
  state: "idle" | "running" | "done" | "failed" = $state("idle");
  progress: Progress | null = $state.raw(null);
  parts: readonly Part[] = $state.raw([]);
  result: Result | null = $state.raw(null);
  refusal: Refusal | null = $state.raw(null);
  private task: string | null = null;
  private asked = 0;
  private stream: AbortController | null = null;

  constructor(
    private readonly plan: string,
    readonly kind: string,
    private readonly whenOver: () => void = () => undefined,
  ) {}

  /** Starts anew; what was still at work for an older question is stopped. */
  async start(options: object = {}): Promise<void> {
    if (this.state === "running") await this.interrupt();
    this.close();
    this.begin();
    try {
      const mine = ++this.asked;
      const answer = await ask<{ task: string }>(`api/plans/${this.plan}/${this.kind}`, "POST", options);
      if (mine === this.asked) this.follow(answer.task);
    } catch (error) {
      this.fail(asRefusal(error));
    }
  }

  /** Listens to a task; everything that it has told is told again. */
  follow(task: string): void {
    this.close();
    this.begin();
    this.task = task;
    const stream = new AbortController();
    this.stream = stream;
    const hear = (told: Told): void => (stream.signal.aborted ? undefined : this.hear(told));
    listen(`api/tasks/${task}/events`, hear, stream.signal).catch((error: unknown) => {
      if (!stream.signal.aborted) this.fail(asRefusal(error));
    });
  }

  async interrupt(): Promise<void> {
    if (this.task === null) return;
    try {
      await ask(`api/tasks/${this.task}`, "DELETE");
    } catch (error) {
      this.refusal = asRefusal(error);
    }
  }

  /** Stops listening; the task itself goes on. */
  close(): void {
    this.stream?.abort();
    this.stream = null;
  }

  private hear({ name, data }: Told): void {
    const facts: unknown = JSON.parse(data);
    if (name === "progress") this.progress = facts as Progress;
    else if (name === "part") this.parts = [...this.parts, facts as Part];
    else if (name === "failed") this.fail(refusalOf(facts));
    else if (name === "result") {
      this.result = facts as Result;
      this.state = "done";
      this.over();
    }
  }

  private begin(): void {
    this.state = "running";
    this.progress = null;
    this.parts = [];
    this.result = null;
    this.refusal = null;
  }

  private fail(refusal: Refusal): void {
    this.refusal = refusal;
    this.state = "failed";
    this.over();
  }

  private over(): void {
    this.close();
    this.whenOver();
  }
}
