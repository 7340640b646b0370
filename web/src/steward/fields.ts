/** Fields of a form, found in a JSON Schema. */

import type { Facts } from "./api";

export interface Field {
  readonly path: readonly string[];
  readonly title: string;
  readonly description: string;
  readonly kind: "text" | "number" | "whole" | "yes or no" | "choice" | "list";
  readonly choices: readonly string[];
  readonly preset: unknown;
  readonly required: boolean;
}

export interface Section {
  readonly name: string;
  readonly description: string;
  readonly fields: readonly Field[];
  /** Names of what is too rich for a form, and is written in the text. */
  readonly elsewhere: readonly string[];
  /** Whether the plan has it. */
  readonly used: boolean;
}

type Schema = Facts;

const DEEPEST = 4;

/** Sections of the form for a plan that says what the facts say. */
export function sectionsOf(root: Schema, facts: Facts): Section[] {
  const sections: Section[] = [];
  for (const [name, found] of Object.entries(objectOf(root["properties"]))) {
    const schema = settled(root, objectOf(found), facts[name]);
    if (!schema["properties"]) continue;
    const fields: Field[] = [];
    const elsewhere: string[] = [];
    collect(root, schema, [name], facts[name], fields, elsewhere, 0);
    if (fields.length > 0) {
      const used = facts[name] !== undefined;
      // Nothing is needed of a section that the plan leaves out.
      const shown = used ? fields : fields.map((field) => ({ ...field, required: false }));
      sections.push({ name, description: text(schema["description"]), fields: shown, elsewhere, used });
    }
  }
  return sections;
}

function collect(
  root: Schema,
  schema: Schema,
  path: readonly string[],
  facts: unknown,
  fields: Field[],
  elsewhere: string[],
  depth: number,
): void {
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  for (const [name, found] of Object.entries(objectOf(schema["properties"]))) {
    const raw = objectOf(found);
    const value = objectOf(facts)[name];
    const inner = settled(root, raw, value);
    const here = [...path, name];
    const kind = kindOf(inner);
    if (kind !== null) {
      fields.push({
        path: here,
        title: name.replaceAll("_", " "),
        description: text(raw["description"]) || text(inner["description"]),
        kind,
        choices: choicesOf(inner),
        preset: raw["default"] ?? inner["default"] ?? null,
        required: required.includes(name),
      });
    } else if (inner["properties"] && depth < DEEPEST) {
      collect(root, inner, here, value, fields, elsewhere, depth + 1);
    } else elsewhere.push(here.join("."));
  }
}

/** Follows references, leaves out null, and takes the kind that the plan has chosen. */
function settled(root: Schema, schema: Schema, value: unknown, depth = 0): Schema {
  if (depth > 12) return {};
  const reference = schema["$ref"];
  if (typeof reference === "string") {
    const name = /^#\/\$defs\/(.+)$/.exec(reference)?.[1] ?? "";
    return settled(root, { ...objectOf(objectOf(root["$defs"])[name]), ...without(schema, "$ref") }, value, depth + 1);
  }
  const several = schema["oneOf"] ?? schema["anyOf"];
  if (!Array.isArray(several)) return schema;
  const kinds = several.map(objectOf).filter((one) => one["type"] !== "null");
  const whole = kinds.map((one) => settled(root, one, value, depth + 1));
  const named = whole.filter((one) => typeof nameOf(one) === "string");
  if (named.length > 1 && named.length === whole.length) {
    const chosen = named.find((one) => nameOf(one) === objectOf(value)["name"]) ?? named[0];
    const choices = { ...objectOf(objectOf(chosen["properties"])["name"]), enum: named.map(nameOf) };
    return {
      ...chosen,
      properties: { ...objectOf(chosen["properties"]), name: { ...without(choices, "const"), type: "string" } },
    };
  }
  if (whole.length === 1) return { ...whole[0], ...without(without(schema, "anyOf"), "oneOf") };
  if (whole.every((one) => ["string", "number", "integer"].includes(text(one["type"])))) return { type: "string" };
  return {};
}

function nameOf(schema: Schema): unknown {
  return objectOf(objectOf(schema["properties"])["name"])["const"];
}

function kindOf(schema: Schema): Field["kind"] | null {
  if (Array.isArray(schema["enum"])) return "choice";
  const types = (Array.isArray(schema["type"]) ? schema["type"] : [schema["type"]]).filter((one) => one !== "null");
  // A number that may also be written as text, to be exact, is a text in a form.
  switch (types.includes("string") ? "string" : types[0]) {
    case "string":
      return "text";
    case "number":
      return "number";
    case "integer":
      return "whole";
    case "boolean":
      return "yes or no";
    case "array":
      return objectOf(schema["items"])["type"] === "string" ? "list" : null;
    default:
      return "const" in schema ? "text" : null;
  }
}

function choicesOf(schema: Schema): string[] {
  return Array.isArray(schema["enum"]) ? schema["enum"].map(String) : [];
}

/** What a value in the plan looks like in a field. */
export function shownIn(value: unknown): string {
  if (value === undefined || value === null) return "";
  return Array.isArray(value) ? value.join(", ") : String(value);
}

/** What is written in the plan for what stands in a field; null takes it out. */
export function writtenFrom(field: Field, shown: string): unknown {
  const trimmed = shown.trim();
  if (trimmed === "") return null;
  switch (field.kind) {
    case "number":
    case "whole": {
      const number = Number(trimmed);
      return Number.isFinite(number) ? number : trimmed;
    }
    case "yes or no":
      return trimmed === "true";
    case "list":
      return trimmed.split(",").map((one) => one.trim()).filter((one) => one !== "");
    default:
      return trimmed;
  }
}

export function valueAt(facts: Facts | null, path: readonly string[]): unknown {
  let found: unknown = facts;
  for (const name of path) found = objectOf(found)[name];
  return found;
}

/** Sentences about a field: those that begin with its path. */
export function problemsOf(problems: readonly string[], path: readonly string[]): string[] {
  const name = path.join(".");
  return problems.filter((one) => one === name || (one.startsWith(name) && /^[:\s,=]/.test(one.slice(name.length))));
}

function objectOf(value: unknown): Facts {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Facts) : {};
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function without(schema: Schema, name: string): Schema {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => key !== name));
}
