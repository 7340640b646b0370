/** A task of the server, followed while it works. */

import { ask, asRefusal, Refusal, refusalOf } from "./api";

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
  private stream: EventSource | null = null;

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
    const stream = new EventSource(`api/tasks/${task}/events`);
    this.stream = stream;
    const on = (name: string, hear: (facts: never) => void): void =>
      stream.addEventListener(name, (event) => hear(JSON.parse((event as MessageEvent<string>).data) as never));
    on("progress", (facts: Progress) => (this.progress = facts));
    on("part", (facts: Part) => (this.parts = [...this.parts, facts]));
    on("result", (facts: Result) => {
      this.result = facts;
      this.state = "done";
      this.over();
    });
    on("failed", (facts: unknown) => this.fail(refusalOf(facts)));
    stream.addEventListener("open", () => (this.parts = []));
    stream.addEventListener("error", () => {
      if (stream.readyState === EventSource.CLOSED && this.state === "running") {
        this.fail(
          new Refusal(
            "The connection to the task was lost.",
            "It may still be at work: reload this page to see how it stands.",
          ),
        );
      }
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
    this.stream?.close();
    this.stream = null;
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
