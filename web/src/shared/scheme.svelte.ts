/** Light or dark, as the reader's machine is set, also when that changes. */

import { palette, type Palette, type Scheme } from "../map/colours";

const dark = window.matchMedia("(prefers-color-scheme: dark)");

class Colours {
  scheme: Scheme = $state(dark.matches ? "dark" : "light");
  palette: Palette = $derived(palette(this.scheme));

  constructor() {
    dark.addEventListener("change", () => {
      this.scheme = dark.matches ? "dark" : "light";
    });
  }

  get chart(): { ink: string; grid: string } {
    return this.scheme === "dark" ? { ink: "#a3adba", grid: "#2d3643" } : { ink: "#55606e", grid: "#e6e3da" };
  }
}

export const colours = new Colours();
