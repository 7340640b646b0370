/** What is shown, and what is chosen on a map. */

import type { Atlas } from "../shared/atlas";

/** What a release shows, for its heading. */
export function kindOf(atlas: Atlas): string {
  return {
    flows: "Flows between places",
    tree: "Sequences of stops",
    totals: `Counts of ${thing(atlas)}s`,
    links: "Counts of road links",
  }[atlas.layer];
}

/** "place", "area" or "road". */
export function thing({ layer, places }: Atlas): string {
  if (layer === "links") return "road";
  return layer === "totals" && places.shapes ? "area" : "place";
}

/** Names of places or links, each only once: ids tell apart those that share one or have none. */
export function namesOf(atlas: Atlas): readonly string[] {
  const { links, places } = atlas;
  const [ids, names] = links ? [links.ids, links.names] : [places.ids, places.names];
  const times = new Map<string, number>();
  for (const name of names) times.set(name, (times.get(name) ?? 0) + 1);
  return names.map((name, i) => {
    if (name === "") return `${thing(atlas)} ${ids[i]}`;
    return times.get(name)! > 1 ? `${name} (${ids[i]})` : name;
  });
}

/** "a place", "an area". */
export function oneOf(atlas: Atlas): string {
  const what = thing(atlas);
  return `${/^[aeiou]/.test(what) ? "an" : "a"} ${what}`;
}

/** What the colours of the map stand for. */
export function meaningOf(atlas: Atlas): string {
  const shown = atlas.links ?? (atlas.layer === "totals" ? atlas.totals : atlas.flows);
  return shown?.meaning ?? atlas.counted;
}
