/** The plan on the desk: its text, what it says, and everything that is done with it. */

import { ask, asRefusal, type Facts, type Listed, type Plan, type Refusal } from "./api";
import { valueAt } from "./fields";
import { keepGuess, keptGuess, type Guess } from "./guess";
import { Job } from "./job.svelte";
import type { AskResult, CheckResult, CurveResult, CurvePoint, PriceResult, PublishResult, PreviewResult, RevisedResult, VerifyResult } from "./results";

export class Desk {
  text = $state("");
  facts: Facts | null = $state.raw(null);
  problems: readonly string[] = $state.raw([]);
  missing: readonly string[] = $state.raw([]);
  releaseType: string | null = $state(null);
  guessed = $state("rows");
  refusal: Refusal | null = $state.raw(null);
  saved = $state("");
  loaded = $state(false);
  private revision = "";
  private edits = 0;
  readonly check: Job<CheckResult>;
  readonly price: Job<PriceResult>;
  readonly curve: Job<CurveResult, CurvePoint>;
  readonly preview: Job<PreviewResult>;
  readonly account: Job<unknown>;
  readonly publish: Job<PublishResult>;
  readonly asked: Job<AskResult>;
  readonly verify: Job<VerifyResult>;
  readonly revise: Job<RevisedResult>;

  constructor(
    readonly id: string,
    whenSpent: () => void,
  ) {
    // A check may have named a file of aliases in the plan.
    this.check = new Job(id, "check", () => (this.changed ? undefined : void this.told(async () => this.take(await ask<Plan>(`api/plans/${id}`)))));
    this.price = new Job(id, "price");
    this.curve = new Job(id, "curve");
    this.preview = new Job(id, "preview");
    this.account = new Job(id, "account", () => void this.price.start(this.guess));
    this.asked = new Job(id, "ask");
    this.verify = new Job(id, "verify");
    this.revise = new Job(id, "revise");
    this.publish = new Job(id, "publish", () => {
      whenSpent();
      void this.price.start(this.guess);
    });
  }

  get guess(): Guess {
    return keptGuess(this.id);
  }

  set guess(guess: Guess) {
    keepGuess(this.id, guess);
  }

  get changed(): boolean {
    return this.text !== this.saved;
  }

  get epsilon(): string {
    const found = valueAt(this.facts, ["privacy", "epsilon"]);
    return found === undefined || found === null ? "" : String(found);
  }

  /** What follows an epsilon of the plan, which holds at its delta only. */
  get atDelta(): string {
    const found = valueAt(this.facts, ["privacy", "delta"]);
    return found === undefined || found === null ? "" : ` at δ = ${String(found)}`;
  }

  async load(): Promise<void> {
    await this.told(async () => {
      this.take(await ask<Plan>(`api/plans/${this.id}`));
      this.loaded = true;
      // What was begun before this page was loaded is still followed.
      const jobs: Record<string, Job<never, never>> = { publish: this.publish as never, check: this.check as never };
      for (const task of await ask<Listed[]>("api/tasks")) {
        if (task.plan === this.id && task.state === "running") jobs[task.kind]?.follow(task.id);
      }
    });
  }

  async save(): Promise<boolean> {
    return this.told(async () => {
      const { text, revision } = this;
      this.take(await ask<Plan>(`api/plans/${this.id}`, "PUT", { text, revision }));
    });
  }

  /** Sets one value in the text; nothing is written to the file. */
  async edit(path: readonly string[], value: unknown): Promise<boolean> {
    const mine = ++this.edits;
    return this.told(async () => {
      const answer = await ask<Pick<Plan, "text" | "facts" | "problems">>(
        `api/plans/${this.id}/edit`,
        "POST",
        { text: this.text, path, value },
      );
      if (mine !== this.edits) return;
      this.text = answer.text;
      this.facts = answer.facts;
      this.problems = answer.problems;
    });
  }

  async spend(confirm: string, anyway: boolean): Promise<void> {
    if (this.publish.state === "running") return;
    await this.publish.start({ confirm, anyway, revision: this.revision });
  }

  close(): void {
    for (const job of [this.check, this.price, this.curve, this.preview, this.account, this.publish, this.asked, this.verify, this.revise]) job.close();
  }

  private take(plan: Plan): void {
    this.text = this.saved = plan.text;
    this.revision = plan.revision;
    this.facts = plan.facts;
    this.problems = plan.problems;
    this.missing = plan.missing ?? [];
    this.releaseType = plan.release_type;
    this.guessed = plan.guessed;
  }

  private async told(deed: () => Promise<void>): Promise<boolean> {
    try {
      this.refusal = null;
      await deed();
      return true;
    } catch (error) {
      this.refusal = asRefusal(error);
      return false;
    }
  }
}
