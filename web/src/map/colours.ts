/** Colours that are evenly spaced for the eye, in light and in dark, also for the colour-blind. */

export type Scheme = "light" | "dark";

/** Lightness (0 to 1), chroma and hue (degrees) in OKLCH. */
type Oklch = readonly [number, number, number];

export interface Palette {
  readonly scheme: Scheme;
  readonly land: string;
  readonly border: string;
  readonly ink: string;
  readonly halo: string;
  readonly road: string;
  readonly water: string;
  readonly transit: string;
  readonly uncertain: string;
  readonly out: string;
  readonly into: string;
  readonly selected: string;
  /** Small to large. */
  sequence(classes: number): string[];
  /** Far below to far above. */
  divergence(classes: number): string[];
}

const SEQUENCE: Record<Scheme, readonly Oklch[]> = {
  light: [
    [0.915, 0.045, 205],
    [0.78, 0.095, 215],
    [0.62, 0.125, 240],
    [0.46, 0.14, 265],
    [0.31, 0.12, 285],
  ],
  dark: [
    [0.33, 0.06, 270],
    [0.46, 0.11, 258],
    [0.62, 0.125, 235],
    [0.78, 0.115, 205],
    [0.93, 0.09, 180],
  ],
};
// Blue to orange: kept apart by all common kinds of colour-blindness.
const BELOW: Record<Scheme, Oklch> = { light: [0.42, 0.14, 262], dark: [0.74, 0.13, 245] };
const ABOVE: Record<Scheme, Oklch> = { light: [0.52, 0.15, 48], dark: [0.8, 0.14, 65] };
const MIDDLE: Record<Scheme, Oklch> = { light: [0.93, 0.01, 250], dark: [0.34, 0.01, 250] };

export function palette(scheme: Scheme): Palette {
  const light = scheme === "light";
  return {
    scheme,
    land: light ? "#f6f5f1" : "#12161c",
    border: light ? "#ffffff" : "#12161c",
    ink: light ? "#1b2430" : "#e8ecf1",
    halo: light ? "rgba(255,255,255,.9)" : "rgba(12,16,22,.9)",
    road: light ? "#d9d7cf" : "#2b323c",
    water: light ? "#d3e4ef" : "#182a3a",
    transit: light ? "#c4c8d2" : "#3a4452",
    uncertain: light ? "#8b909a" : "#79818d",
    out: rgb(light ? [0.55, 0.16, 45] : [0.78, 0.14, 62]),
    into: rgb(light ? [0.45, 0.14, 262] : [0.76, 0.12, 235]),
    selected: rgb(light ? [0.5, 0.17, 40] : [0.82, 0.14, 70]),
    sequence: (classes) => spread(SEQUENCE[scheme], classes),
    divergence: (classes) =>
      spread([BELOW[scheme], MIDDLE[scheme], ABOVE[scheme]], classes),
  };
}

function spread(stops: readonly Oklch[], classes: number): string[] {
  return Array.from({ length: classes }, (_, i) => {
    const at = classes === 1 ? stops.length - 1 : (i / (classes - 1)) * (stops.length - 1);
    const low = Math.min(Math.floor(at), stops.length - 2);
    const part = at - low;
    const [from, to] = [stops[low], stops[low + 1]];
    // Straight through the middle of colour space: hues that are far apart meet in grey.
    const mix = (a: number, b: number): number => a + (b - a) * part;
    const [fromA, fromB] = flat(from);
    const [toA, toB] = flat(to);
    return rgbOf(mix(from[0], to[0]), mix(fromA, toA), mix(fromB, toB));
  });
}

function flat([, chroma, hue]: Oklch): [number, number] {
  const angle = (hue * Math.PI) / 180;
  return [chroma * Math.cos(angle), chroma * Math.sin(angle)];
}

function rgb(colour: Oklch): string {
  return rgbOf(colour[0], ...flat(colour));
}

/** From OKLab to what screens show. */
function rgbOf(lightness: number, a: number, b: number): string {
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const parts = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ].map((linear) => {
    const shown = linear <= 0.0031308 ? 12.92 * linear : 1.055 * linear ** (1 / 2.4) - 0.055;
    return Math.round(255 * Math.max(0, Math.min(1, shown)));
  });
  return `rgb(${parts.join(",")})`;
}
