/** Where the releases of a site come from: files beside the page, or the page itself. */

import { readBackground } from "../map/ground";
import { AtlasError, readAtlas, type Atlas } from "./atlas";
import { list, maybeText, object, text, type Facts } from "./columns";
import { readSeries, type SiteSeries } from "./series";

export interface Listed {
  readonly slug: string;
  readonly title: string;
  readonly releaseType: string;
  readonly period: string;
  /** Whether ground lies under its map. */
  readonly ground: boolean;
}

export interface Site {
  readonly releases: readonly Listed[];
  /** What they say as a series; null if they are none. */
  readonly series: SiteSeries | null;
  /** True if certificate and files lie beside the page. */
  readonly hosted: boolean;
  load(slug: string): Promise<Atlas>;
}

const MOST_RELEASES = 2000;
const LARGEST_JSON = 256 * 2 ** 20;
const LARGEST_COLUMNS = 1024 * 2 ** 20;

/** Finds the site in the page, or else beside it. */
export async function openSite(page: Document): Promise<Site> {
  const embedded = page.getElementById("hushway-site")?.textContent;
  if (embedded) {
    const facts = object(parsed(embedded, "this page"), "page");
    const inside = object(facts["releases"], "releases");
    return {
      releases: readSite(facts["site"]),
      series: readSeries(object(facts["site"], "site")["series"]),
      hosted: false,
      load: async (slug) => {
        const one = object(Object.hasOwn(inside, slug) ? inside[slug] : null, "release");
        const atlas = readAtlas(one["atlas"], decoded(text(one["columns"], "columns", LARGEST_COLUMNS)));
        return { ...atlas, background: one["ground"] ? readBackground(one["ground"]) : null };
      },
    };
  }
  const site = parsed(await fetchText("site.json"), "site.json");
  const releases = readSite(site);
  return {
    releases,
    series: readSeries(object(site, "site")["series"]),
    hosted: true,
    load: async (slug) => {
      const folder = `releases/${slug}/`;
      const ground = releases.find((one) => one.slug === slug)?.ground;
      const [facts, bytes, below] = await Promise.all([
        fetchText(`${folder}atlas.json`),
        fetchBytes(`${folder}columns.bin`, LARGEST_COLUMNS),
        ground ? fetchText(`${folder}ground.geojson`) : null,
      ]);
      return {
        ...readAtlas(parsed(facts, "atlas.json"), bytes),
        background: below === null ? null : readBackground(parsed(below, "ground.geojson")),
      };
    },
  };
}

export function readSite(value: unknown): Listed[] {
  const facts: Facts = object(value, "site");
  if (facts["format"] !== "hushway-site" || facts["version"] !== 1) {
    throw new AtlasError("The list of releases is not one that this page can read.");
  }
  return list(facts["releases"], "releases", MOST_RELEASES).map((one) => {
    const found = object(one, "releases");
    const slug = text(found["slug"], "slug", 200);
    if (!/^[A-Za-z0-9_-][A-Za-z0-9._-]*$/.test(slug)) {
      throw new AtlasError("A release in the list has a name that cannot be part of an address.");
    }
    return {
      slug,
      title: text(found["title"], "title", 400),
      releaseType: text(found["release_type"], "release_type", 200),
      period: maybeText(found["period"], "period", 400) ?? "",
      ground: found["ground"] === true,
    };
  });
}

function parsed(source: string, what: string): unknown {
  try {
    return JSON.parse(source) as unknown;
  } catch {
    throw new AtlasError(`${what} is damaged: it cannot be read as JSON.`);
  }
}

function decoded(base64: string): ArrayBuffer {
  try {
    const letters = atob(base64);
    const bytes = new Uint8Array(letters.length);
    for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
    return bytes.buffer;
  } catch {
    throw new AtlasError("The columns in this page are damaged.");
  }
}

async function fetchBytes(address: string, largest: number): Promise<ArrayBuffer> {
  let answer: Response;
  try {
    answer = await fetch(address);
  } catch {
    throw new AtlasError(`${address} could not be loaded. Is the server still running?`);
  }
  if (!answer.ok) throw new AtlasError(`${address} could not be loaded (${answer.status}).`);
  if (Number(answer.headers.get("content-length") ?? 0) > largest) {
    throw new AtlasError(`${address} is larger than this page can hold.`);
  }
  const bytes = await answer.arrayBuffer();
  if (bytes.byteLength > largest) throw new AtlasError(`${address} is larger than this page can hold.`);
  return bytes;
}

async function fetchText(address: string): Promise<string> {
  return new TextDecoder().decode(await fetchBytes(address, LARGEST_JSON));
}
