/** What the release types are called, and what is chosen on their maps. */

import type { Atlas, ReleaseType } from "../shared/atlas";

export const TYPE_NAMES: Record<ReleaseType, string> = {
  od: "Flows between places",
  sequences: "Sequences of stops",
  density: "Counts of areas",
  links: "Counts of road links",
};

/** "place", "area" or "road". */
export function thing({ releaseType }: Atlas): string {
  return { od: "place", sequences: "place", density: "area", links: "road" }[releaseType];
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
  const shown = atlas.links ?? (atlas.releaseType === "density" ? atlas.totals : atlas.flows);
  return shown?.meaning ?? atlas.counted;
}
