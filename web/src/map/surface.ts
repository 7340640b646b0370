/** The canvas of a map: a picture is kept while it moves, and drawn again when it rests. */

import { Frame } from "./frame";
import type { Layer, Pen } from "./layer";
import { inSlices, type Work } from "./slices";
import { fitted, panned, resized, zoomed, type View } from "./view";

/** How much of the map around the screen is drawn ahead, as a share of the screen. */
const AROUND = 0.25;
const REST_MS = 140;
const SHARPEST = 2;
// Longer drawings are shown as they grow.
const PATIENCE_MS = 400;

export interface Scene {
  readonly frame: Frame;
  readonly layers: readonly Layer[];
  readonly ground: string;
}

/** What lies above the picture and is drawn in every frame, so it must be little. */
export interface Overlay {
  /** How much of the picture is seen below, from 0 to 1. */
  readonly below: number;
  paint(pen: Pen, view: View): void;
}

interface Picture {
  readonly canvas: HTMLCanvasElement;
  readonly view: View;
}

export class Surface {
  private readonly pen: Pen;
  private view: View | null = null;
  private picture: Picture | null = null;
  private coming: Picture | null = null;
  private comingSince = 0;
  private stop: () => void = () => undefined;
  private resting = 0;
  private asked = 0;
  private overlay: Overlay | null = null;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private scene: Scene,
    private readonly whenMoved: (view: View) => void,
  ) {
    const pen = canvas.getContext("2d", { alpha: false });
    if (pen === null) throw new Error("This browser cannot draw on a canvas.");
    this.pen = pen;
  }

  get current(): View | null {
    return this.view;
  }

  show(scene: Scene): void {
    const moved = scene.frame !== this.scene.frame;
    this.scene = scene;
    if (moved) {
      this.picture = null;
      this.view = null;
      this.resize();
    } else this.draw();
  }

  lay(overlay: Overlay | null): void {
    this.overlay = overlay;
    this.ask();
  }

  resize(): void {
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight];
    if (width === 0 || height === 0) return;
    const ratio = sharpness();
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.view = resized(this.scene.frame, this.view, width, height);
    this.whenMoved(this.view);
    this.frameNow();
    this.draw();
  }

  look(x: number, y: number, pixels: number): void {
    if (this.view) this.move({ ...this.view, x, y, pixels });
  }

  fit(): void {
    if (this.view) this.move(fitted(this.scene.frame, this.view.width, this.view.height));
  }

  pan(right: number, down: number): void {
    if (this.view) this.move(panned(this.scene.frame, this.view, right, down));
  }

  zoom(factor: number, left?: number, top?: number): void {
    const view = this.view;
    if (view === null) return;
    this.move(
      zoomed(this.scene.frame, view, factor, left ?? view.width / 2, top ?? view.height / 2),
    );
  }

  close(): void {
    this.stop();
    clearTimeout(this.resting);
    cancelAnimationFrame(this.asked);
    this.asked = -1;
  }

  private move(view: View): void {
    this.view = view;
    this.whenMoved(view);
    this.stop();
    this.coming = null;
    this.canvas.dataset["state"] = "moving";
    this.ask();
    clearTimeout(this.resting);
    this.resting = window.setTimeout(() => this.draw(), REST_MS);
  }

  /** Draws the picture again, in slices, on a canvas that is shown when it is complete. */
  private draw(): void {
    this.stop();
    clearTimeout(this.resting);
    if (this.view === null) return;
    const view = enlarged(this.view);
    const ratio = sharpness();
    const canvas = document.createElement("canvas");
    canvas.width = Math.round(view.width * ratio);
    canvas.height = Math.round(view.height * ratio);
    const pen = canvas.getContext("2d", { alpha: false, willReadFrequently: true });
    if (pen === null) return;
    pen.scale(ratio, ratio);
    pen.fillStyle = this.scene.ground;
    pen.fillRect(0, 0, view.width, view.height);
    this.coming = { canvas, view };
    this.comingSince = performance.now();
    this.canvas.dataset["state"] = "drawing";
    this.stop = inSlices(
      everything(this.scene.layers, pen, view),
      () => {
        if (performance.now() - this.comingSince > PATIENCE_MS) this.ask();
      },
      () => {
        this.picture = this.coming;
        this.coming = null;
        this.canvas.dataset["state"] = "drawn";
        this.ask();
      },
    );
  }

  private ask(): void {
    if (this.asked !== 0) return;
    this.asked = requestAnimationFrame(() => {
      this.asked = 0;
      this.frameNow();
    });
  }

  private frameNow(): void {
    const view = this.view;
    if (view === null) return;
    const { pen } = this;
    const ratio = sharpness();
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.globalAlpha = 1;
    pen.fillStyle = this.scene.ground;
    pen.fillRect(0, 0, this.canvas.width, this.canvas.height);
    pen.globalAlpha = this.overlay?.below ?? 1;
    const late = this.coming !== null && performance.now() - this.comingSince > PATIENCE_MS;
    const picture = late ? this.coming : (this.picture ?? this.coming);
    if (picture) paste(pen, picture, view, ratio);
    pen.globalAlpha = 1;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.overlay?.paint(pen, view);
  }
}

function sharpness(): number {
  return Math.min(SHARPEST, window.devicePixelRatio || 1);
}

function enlarged(view: View): View {
  return {
    ...view,
    width: Math.round(view.width * (1 + 2 * AROUND)),
    height: Math.round(view.height * (1 + 2 * AROUND)),
  };
}

/** Puts a kept picture where it belongs in another view. */
function paste(pen: Pen, { canvas, view: drawn }: Picture, view: View, ratio: number): void {
  const factor = view.pixels / drawn.pixels;
  const left = (drawn.x - view.x) * view.pixels + view.width / 2 - (drawn.width * factor) / 2;
  const top = (drawn.y - view.y) * view.pixels + view.height / 2 - (drawn.height * factor) / 2;
  // At rest every pixel of the picture is one of the screen.
  const same = factor === 1;
  pen.imageSmoothingEnabled = !same;
  const at = (part: number): number => (same ? Math.round(part * ratio) : part * ratio);
  const [wide, high] = same
    ? [canvas.width, canvas.height]
    : [drawn.width * factor * ratio, drawn.height * factor * ratio];
  pen.drawImage(canvas, at(left), at(top), wide, high);
}

function* everything(layers: readonly Layer[], pen: Pen, view: View): Work {
  for (const layer of layers) {
    pen.save();
    for (const piece of layer.paint(pen, view)) {
      settle(pen);
      yield piece;
    }
    pen.restore();
    yield;
  }
}

/** Browsers only note what is drawn until somebody looks; looking now keeps slices short. */
function settle(pen: Pen): void {
  pen.getImageData(0, 0, 1, 1);
}
