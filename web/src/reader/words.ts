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

/** Names of places or links; what has none is called by its id. */
export function namesOf(atlas: Atlas): readonly string[] {
  const { links, places } = atlas;
  const [ids, names] = links ? [links.ids, links.names] : [places.ids, places.names];
  return names.map((name, i) => name || `${thing(atlas)} ${ids[i]}`);
}

/** What the colours of the map stand for. */
export function meaningOf(atlas: Atlas): string {
  const shown = atlas.links ?? (atlas.releaseType === "density" ? atlas.totals : atlas.flows);
  return shown?.meaning ?? atlas.counted;
}
