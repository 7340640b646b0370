import { afterEach, describe, expect, it, vi } from "vitest";
import { refusalOf } from "../src/steward/api";
import { budgetsWith, curvesOf, nearest, pointAt } from "../src/steward/curves";
import { eventIn, listen, type Told } from "../src/steward/events";
import { problemsOf, sectionsOf, shownIn, valueAt, writtenFrom, type Field } from "../src/steward/fields";
import { pathsIn, tellings } from "../src/steward/found";
import { approximately, lostInWords } from "../src/steward/results";
import { keepSession, sessionHeaders, tokenIn } from "../src/steward/session";
import { addressOf, placeOf } from "../src/steward/steps";

const SCHEMA = {
  $defs: {
    Data: {
      description: "The rows.",
      properties: {
        trips: { type: "string", description: "A file." },
        epsilon: { type: ["string", "number"] },
        delta: { anyOf: [{ type: ["string", "number"] }, { type: "null" }], default: null },
        clock: { enum: ["local", "utc"], default: "local", type: "string" },
        strict: { type: "boolean" },
        days: { type: "array", items: { type: "string" } },
        shares: { anyOf: [{}, { type: "null" }] },
        columns: { $ref: "#/$defs/Columns" },
      },
      required: ["trips"],
      type: "object",
    },
    Columns: { properties: { person: { type: "string" } }, type: "object" },
    One: { properties: { name: { const: "one", type: "string" }, size: { type: "integer" } } },
    Two: { properties: { name: { const: "two", type: "string" }, depth: { type: "number" } } },
    Loop: { $ref: "#/$defs/Loop" },
  },
  properties: {
    version: { type: "integer" },
    data: { $ref: "#/$defs/Data" },
    mechanism: { oneOf: [{ $ref: "#/$defs/One" }, { $ref: "#/$defs/Two" }] },
    loop: { $ref: "#/$defs/Loop" },
  },
};

describe("what people may have lost", () => {
  it("is a sentence for each unit", () => {
    const lost = [
      { unit: "person", releases: 1, epsilon: "3/2", rho: "0", note: null },
      { unit: "trip", releases: 2, epsilon: "1", rho: "1/4", note: "Of one trip." },
    ];
    expect(lostInWords({ people: null, datasets: ["taps"], lost })).toEqual([
      "One person at most ε = 1.5, in 1 release.",
      "One trip at most ε = 1 and ρ = 0.25, in 2 releases. Of one trip.",
    ]);
  });
});

describe("a form", () => {
  it("has a field for each plain value of the schema", () => {
    const [data] = sectionsOf(SCHEMA, { data: {} });
    expect(data.fields.map(({ path, kind }) => [path.join("."), kind])).toEqual([
      ["data.trips", "text"],
      ["data.epsilon", "text"],
      ["data.delta", "text"],
      ["data.clock", "choice"],
      ["data.strict", "yes or no"],
      ["data.days", "list"],
      ["data.columns.person", "text"],
    ]);
    expect(data.elsewhere).toEqual(["data.shares"]);
    expect(data.fields[0].required).toBe(true);
  });

  it("needs nothing of a section that the plan leaves out", () => {
    const [data] = sectionsOf(SCHEMA, {});
    expect(data.used).toBe(false);
    expect(data.fields.some(({ required }) => required)).toBe(false);
  });

  it("shows the kind that the plan has chosen", () => {
    const fields = (name: string) =>
      sectionsOf(SCHEMA, { mechanism: { name } })[1].fields.map(({ path }) => path[1]);
    expect(fields("one")).toEqual(["name", "size"]);
    expect(fields("two")).toEqual(["name", "depth"]);
    expect(sectionsOf(SCHEMA, {})[1].fields[0].choices).toEqual(["one", "two"]);
  });

  it("writes what was meant, and takes out what is empty", () => {
    const field = (kind: Field["kind"]): Field => ({ path: [], title: "", description: "", kind, choices: [], preset: null, required: false });
    expect(writtenFrom(field("whole"), "12")).toBe(12);
    expect(writtenFrom(field("text"), " 0.5 ")).toBe("0.5");
    expect(writtenFrom(field("list"), "a, b,")).toEqual(["a", "b"]);
    expect(writtenFrom(field("yes or no"), "false")).toBe(false);
    expect(writtenFrom(field("number"), "many")).toBe("many");
    expect(writtenFrom(field("text"), "  ")).toBeNull();
    expect(shownIn(["a", "b"])).toBe("a, b");
    expect(shownIn(undefined)).toBe("");
  });

  it("shows a problem at its field only", () => {
    const problems = ["privacy.epsilon: is missing", "privacy.epsilon_more: x", "data: y"];
    expect(problemsOf(problems, ["privacy", "epsilon"])).toEqual(["privacy.epsilon: is missing"]);
    expect(valueAt({ privacy: { epsilon: "1" } }, ["privacy", "epsilon"])).toBe("1");
    expect(valueAt(null, ["privacy", "epsilon"])).toBeUndefined();
  });
});

describe("curves", () => {
  const point = (epsilon: string, ...errors: [string, number, number | null][]) => ({
    epsilon,
    errors: errors.map(([figure, error, share]) => ({ figure, error, size: null, share })),
  });

  it("grow point by point, in the order of budgets", () => {
    const found = curvesOf([point("1", ["cell", 3, null]), point("1/2", ["cell", 6, null], ["sum", 9, null])]);
    expect(found.epsilons).toEqual([0.5, 1]);
    expect(found.curves[0]).toEqual({ figure: "cell", values: [6, 3] });
    expect(found.curves[1].values[1]).toBeNaN();
    expect(found.shares).toBe(false);
  });

  it("are shares where all sizes are known", () => {
    expect(curvesOf([point("1", ["cell", 3, 0.1])]).curves[0].values).toEqual([0.1]);
  });

  it("know the budget that is looked at", () => {
    const points = [point("1/2", ["cell", 6, null])];
    expect(pointAt(points, "0.5")?.[0].error).toBe(6);
    expect(pointAt(points, "1")).toBeNull();
    expect(budgetsWith("1/3")).toContain("1/3");
    expect(budgetsWith("1.0").filter((one) => approximately(one) === 1)).toHaveLength(1);
    expect(budgetsWith("nonsense")).toHaveLength(12);
    expect(budgetsWith("1")[nearest(budgetsWith("1"), "1")]).toBe("1");
  });
});

describe("what is told", () => {
  it("names the files of a plan", () => {
    expect(pathsIn({ data: { trips: "trips.csv", name: "x" }, version: 1 })).toEqual([{ name: "data.trips", value: "trips.csv" }]);
    expect(pathsIn(null)).toEqual([]);
  });

  it("unfolds what check has found", () => {
    const lines = tellings({ read: 1234, limits: [{ what: "trips", option: "max_trips", limit: 2, owners_above: 3, owners: 1000, cut_off: 0.2157 }], names: [{ name: "Kings X", rows: 12, nearest: "KGX" }], hours: [1, 2, 3, 4] });
    expect(lines).toEqual([
      { what: "read", value: "1,234" },
      { what: "limit of 2 trips (max_trips)", value: "3 of 1,000 have more; it leaves out 21.6% of the trips" },
      { what: "not listed: Kings X", value: "12 rows; most like KGX" },
    ]);
  });

  it("repeats refusals in the server's words", () => {
    const refusal = refusalOf({ message: "No.", advice: "Do this.", notes: ["n"] }, 422);
    expect([refusal.message, refusal.advice, refusal.notes]).toEqual(["No.", "Do this.", ["n"]]);
    expect(refusalOf(null, 500).message).toContain("500");
  });

  it("has an address for every step", () => {
    expect(placeOf(addressOf("ab12", "price"))).toEqual({ plan: "ab12", step: "price" });
    expect(placeOf("#/../x")).toEqual({ plan: null, step: "sources" });
  });
});

describe("a session", () => {
  it("begins by the address that was printed, and by no other", () => {
    expect(tokenIn("#token=aB3_-x")).toBe("aB3_-x");
    for (const hash of ["", "#", "#/ab12/price", "#token=", "#token=a b", "#token=a&x=b"]) expect(tokenIn(hash)).toBeNull();
  });

  it("is sent in a header, also where a browser stores nothing", () => {
    expect(sessionHeaders()).toEqual({});
    keepSession("abc");
    expect(sessionHeaders()).toEqual({ Authorization: "Bearer abc" });
  });
});

describe("events", () => {
  afterEach(() => {
    vi.unstubAllGlobals();
    vi.useRealTimers();
  });
  const event = (id: number): string => `id: ${id}\nevent: part\ndata: {"text":"a: b"}\n\n`;

  it("are told from signs of life", () => {
    expect(eventIn(event(1).trim())).toEqual({ id: "1", name: "part", data: '{"text":"a: b"}' });
    expect(eventIn(": still at work")).toBeNull();
  });

  it("go on where a connection broke, however they were cut", async () => {
    vi.useFakeTimers();
    const asked: (string | null)[] = [];
    const answers = [[event(1).slice(0, 9), event(1).slice(9) + ": still\n\n" + event(2).slice(0, 5)], [event(2)]];
    vi.stubGlobal("fetch", async (_path: string, { headers }: { headers: Record<string, string> }) => {
      asked.push(headers["Last-Event-ID"] ?? null);
      const pieces = (answers.shift() ?? []).map((one) => new TextEncoder().encode(one));
      return new Response(new ReadableStream({ start: (to) => { pieces.forEach((one) => to.enqueue(one)); to.close(); } }));
    });
    const end = new AbortController();
    const heard: Told[] = [];
    const over = listen("x", (told) => { heard.push(told); if (told.id === "2") end.abort(); }, end.signal);
    await vi.runAllTimersAsync();
    await over;
    expect(heard.map(({ id }) => id)).toEqual(["1", "2"]);
    expect(asked).toEqual([null, "1"]);
  });

  it("end with a refusal in the server's words, or when nobody answers any more", async () => {
    const { signal } = new AbortController();
    vi.stubGlobal("fetch", async () => new Response('{"message":"No."}', { status: 401 }));
    await expect(listen("x", () => undefined, signal)).rejects.toThrow("No.");
    vi.useFakeTimers();
    vi.stubGlobal("fetch", async () => Promise.reject(new TypeError()));
    const lost = expect(listen("x", () => undefined, signal)).rejects.toThrow("connection to the task was lost");
    await vi.runAllTimersAsync();
    await lost;
  });
});
