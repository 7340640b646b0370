/** How a count becomes a colour and a width, with what is too uncertain set apart. */

import type { Floats } from "../shared/columns";
import { uncertain } from "../shared/format";
import { byClass, classOf, extent, roundLimits, type Ordered } from "./classes";
import type { Palette } from "./colours";

/** The class of counts below two standard errors. */
export const UNCERTAIN = 0;
const MOST_LIMITS = 6;
const MOST_DIFFERENCES = 3;

export class Scale {
  /** One more than colours: the first class is of what is too uncertain. */
  readonly classes: number;

  constructor(
    readonly limits: readonly number[],
    readonly diverging: boolean,
    readonly smallest: number,
    readonly largest: number,
  ) {
    this.classes = 2 + (diverging ? 2 * limits.length : limits.length);
  }

  static of(count: Floats, error: Floats, diverging = false): Scale {
    const { smallest, largest } = extent(count, error);
    const most = diverging ? MOST_DIFFERENCES : MOST_LIMITS;
    return new Scale(roundLimits(smallest, largest, most), diverging, smallest, largest);
  }

  classOf(count: number, error: number): number {
    if (Number.isNaN(count) || uncertain(count, error)) return UNCERTAIN;
    if (!this.diverging) return 1 + classOf(this.limits, count);
    const away = classOf(this.limits, Math.abs(count));
    return 1 + this.limits.length + (count < 0 ? -away : away);
  }

  order(count: Floats, error: Floats): Ordered {
    const classes = new Uint8Array(count.length);
    for (let i = 0; i < count.length; i++) classes[i] = this.classOf(count[i], error[i]);
    return byClass(classes, this.classes);
  }

  /** Classes in the order in which they are drawn: what matters most comes last, on top. */
  drawn(): number[] {
    if (!this.diverging) return Array.from({ length: this.classes }, (_, c) => c);
    const middle = 1 + this.limits.length;
    const away = Array.from({ length: this.limits.length }, (_, i) => [middle - i - 1, middle + i + 1]);
    return [UNCERTAIN, middle, ...away.flat()];
  }

  colours(palette: Palette): string[] {
    const certain = this.classes - 1;
    return [
      palette.uncertain,
      ...(this.diverging ? palette.divergence(certain) : palette.sequence(certain)),
    ];
  }

  /** From 0 (least) to 1 (most), for widths. */
  strength(ofClass: number): number {
    if (ofClass === UNCERTAIN) return 0;
    if (this.diverging) {
      return Math.abs(ofClass - 1 - this.limits.length) / Math.max(1, this.limits.length);
    }
    return (ofClass - 1) / Math.max(1, this.classes - 2);
  }
}
