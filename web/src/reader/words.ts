/** What is shown, and what is chosen on a map. */

import type { Scale } from "../map/scale";
import type { Atlas } from "../shared/atlas";
import { number, short, uncertain } from "../shared/format";
import type { Values } from "./shown";

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

/** What width and colour mean, and what is left out, one sentence each; areas under flows have a scale of their own. */
export function legendWords(
  atlas: Atlas,
  drawn: Values | null,
  minus: boolean,
  showUncertain: boolean,
  places: Scale | null = null,
): string[] {
  const { layer, counted } = atlas;
  const more = minus ? "a larger difference" : `more ${counted}`;
  const words = [
    layer === "totals"
      ? `A stronger colour means ${more}.`
      : `A wider line of a stronger colour means ${more}${layer === "flows" ? "; lines bend to the right of the way they go" : ""}.`,
  ];
  if (layer === "flows" && atlas.places.shapes && places) {
    const limits = places.limits.length > 0 ? `, with limits at ${places.limits.map(short).join(", ")}` : "";
    words.push(`Areas have a stronger colour where ${more} start${limits}; hatched ones are too uncertain.`);
  }
  if (drawn === null || showUncertain || layer === "totals") return words;
  let [unsure, theirs, all] = [0, 0, 0];
  drawn.count.forEach((count, i) => {
    all += Math.abs(count);
    if (!uncertain(count, drawn.error[i])) return;
    unsure++;
    theirs += Math.abs(count);
  });
  if (unsure > 0) {
    const share = minus ? "" : `, with ${Math.round((100 * theirs) / all)}% of the ${counted}`;
    words.push(`Left out as too uncertain: ${number(unsure)} of ${number(drawn.count.length)} ${layer === "links" ? "links" : "flows"}${share}.`);
  }
  return words;
}
