/** Mercator, once for every point: afterwards the map is moved by sums and products alone. */

import { geoMercatorRaw } from "d3-geo";
import type { Numbers } from "../shared/columns";

const DEGREE = Math.PI / 180;
// Mercator has no poles; what lies beyond is drawn at the edge.
const HIGHEST_LATITUDE = 85;
const TILE = 256;

/** Flat coordinates around a city: about 1 wide, so that single precision is a centimetre. */
export class Frame {
  private constructor(
    private readonly x: number,
    private readonly y: number,
    /** How many units of the frame a unit of the projection is. */
    private readonly scale: number,
    readonly width: number,
    readonly height: number,
  ) {}

  static around([west, south, east, north]: readonly [number, number, number, number]): Frame {
    const [left, bottom] = mercator(west, south);
    const [right, top] = mercator(east, north);
    // A single place has no extent: it is shown with some hundred metres around.
    const extent = Math.max(right - left, top - bottom, 1e-4);
    const scale = 1 / extent;
    return new Frame(
      (left + right) / 2,
      (bottom + top) / 2,
      scale,
      Math.max(right - left, extent / 50) * scale,
      Math.max(top - bottom, extent / 50) * scale,
    );
  }

  project(lon: number, lat: number): [number, number] {
    const [x, y] = mercator(lon, lat);
    return [(x - this.x) * this.scale, (this.y - y) * this.scale];
  }

  /** All points, x and y in turn. */
  projectAll(lon: Numbers, lat: Numbers): Float32Array {
    const flat = new Float32Array(2 * lon.length);
    for (let i = 0; i < lon.length; i++) {
      const [x, y] = this.project(lon[i], lat[i]);
      flat[2 * i] = x;
      flat[2 * i + 1] = y;
    }
    return flat;
  }

  unproject(x: number, y: number): [number, number] {
    const [lon, lat] = geoMercatorRaw.invert!(x / this.scale + this.x, this.y - y / this.scale);
    return [lon / DEGREE, lat / DEGREE];
  }

  /** The zoom, as web maps count it, at so many pixels for a unit. */
  zoomOf(pixels: number): number {
    return Math.log2((2 * Math.PI * pixels * this.scale) / TILE);
  }

  pixelsAt(zoom: number): number {
    return (TILE * 2 ** zoom) / (2 * Math.PI * this.scale);
  }
}

function mercator(lon: number, lat: number): [number, number] {
  const bounded = Math.max(-HIGHEST_LATITUDE, Math.min(HIGHEST_LATITUDE, lat));
  return geoMercatorRaw(lon * DEGREE, bounded * DEGREE);
}
