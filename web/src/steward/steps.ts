/** The steward's way, and the address of each step. */

export const STEPS = [
  { name: "sources", title: "Sources" },
  { name: "plan", title: "Plan" },
  { name: "price", title: "Price" },
  { name: "publish", title: "Publish" },
  { name: "certificate", title: "Certificate" },
  { name: "ledger", title: "Ledger" },
] as const;

export type StepName = (typeof STEPS)[number]["name"];

export function placeOf(hash: string): { plan: string | null; step: StepName } {
  const [plan = "", step = ""] = hash.replace(/^#\/?/, "").split("/");
  return {
    plan: /^[A-Za-z0-9_-]+$/.test(plan) ? plan : null,
    step: STEPS.find(({ name }) => name === step)?.name ?? "sources",
  };
}

export function addressOf(plan: string, step: StepName): string {
  return `#/${encodeURIComponent(plan)}/${step}`;
}
