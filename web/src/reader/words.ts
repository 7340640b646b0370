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

export function namesOf(atlas: Atlas): readonly string[] {
  return atlas.links?.names ?? atlas.places.names;
}

/** What the colours of the map stand for. */
export function meaningOf(atlas: Atlas): string {
  const shown = atlas.links ?? (atlas.releaseType === "density" ? atlas.totals : atlas.flows);
  return shown?.meaning ?? atlas.counted;
}
