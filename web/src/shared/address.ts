/** The address of a view: what stands after the hash, so that a view can be shared. */

export interface Address {
  readonly slug: string | null;
  readonly period: number | null;
  readonly at: { readonly lon: number; readonly lat: number; readonly zoom: number } | null;
  readonly place: number | null;
  readonly versus: string | null;
}

/** Reads an address; what it does not understand is as if it were not there. */
export function readAddress(hash: string): Address {
  const [slug = "", query = ""] = split(hash.replace(/^#/, ""));
  const asked = new URLSearchParams(query);
  return {
    slug: unescaped(slug) || null,
    period: index(asked.get("p")),
    at: position(asked.get("at")),
    place: index(asked.get("place")),
    versus: asked.get("vs") || null,
  };
}

export function writeAddress(address: Address): string {
  const parts: string[] = [];
  if (address.period !== null) parts.push(`p=${address.period}`);
  if (address.at) {
    const { lon, lat, zoom } = address.at;
    parts.push(`at=${lon.toFixed(5)},${lat.toFixed(5)},${zoom.toFixed(2)}`);
  }
  if (address.place !== null) parts.push(`place=${address.place}`);
  if (address.versus !== null) parts.push(`vs=${encodeURIComponent(address.versus)}`);
  const query = parts.length > 0 ? `?${parts.join("&")}` : "";
  return `#${encodeURIComponent(address.slug ?? "")}${query}`;
}

function split(rest: string): [string, string] {
  const at = rest.indexOf("?");
  return at < 0 ? [rest, ""] : [rest.slice(0, at), rest.slice(at + 1)];
}

function unescaped(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return "";
  }
}

function index(found: string | null): number | null {
  return found !== null && /^\d{1,9}$/.test(found) ? Number(found) : null;
}

function position(found: string | null): Address["at"] {
  const parts = (found ?? "").split(",");
  if (parts.length !== 3 || parts.some((part) => !/^-?\d{1,4}(\.\d{1,9})?$/.test(part))) return null;
  const [lon, lat, zoom] = parts.map(Number) as [number, number, number];
  if (Math.abs(lon) > 180 || Math.abs(lat) > 85 || zoom < 0 || zoom > 24) return null;
  return { lon, lat, zoom };
}
