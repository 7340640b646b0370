/** Work in slices, so that no frame waits for a long drawing. */

export type Work = Generator<undefined, void, undefined>;

const SLICE_MS = 12;

/** Runs work between frames; the answer stops it. */
export function inSlices(work: Work, whenSlice: () => void, whenDone: () => void): () => void {
  let waiting = 0;
  const go = (): void => {
    const until = performance.now() + SLICE_MS;
    do {
      if (work.next().done) {
        whenDone();
        return;
      }
    } while (performance.now() < until);
    whenSlice();
    waiting = requestAnimationFrame(go);
  };
  waiting = requestAnimationFrame(go);
  return () => {
    cancelAnimationFrame(waiting);
  };
}
