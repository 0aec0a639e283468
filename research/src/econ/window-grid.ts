/** Windows up to here are all on the grid. */
const EXACT = 64;
/** Beyond, each is so much larger than the one before. */
const STEP = 1.03;

/** The windows of losses that sums over states run over: whole up to 64 segments, then 3% apart. */
export class WindowGrid {
  readonly windows: number[] = [];

  /** @param largest grid ends at or above it */
  constructor(largest: number) {
    for (let window = 1; ; window = window < EXACT ? window + 1 : Math.ceil(window * STEP)) {
      this.windows.push(window);
      if (window >= largest && this.windows.length > 1) return;
    }
  }

  /** Index of the last grid window that is at most `window`, and the share of the way from it to the next. */
  locate(window: number): { index: number; share: number } {
    const { windows } = this;
    const last = windows.length - 1;
    if (window >= windows[last]!) return { index: last - 1, share: 1 };
    let index = Math.min(Math.floor(window), EXACT) - 1;
    if (window > EXACT) {
      let high = last;
      while (high - index > 1) {
        const middle = (index + high) >> 1;
        if (windows[middle]! <= window) index = middle;
        else high = middle;
      }
    }
    if (index < 0) return { index: 0, share: 0 };
    const low = windows[index]!;
    return { index, share: (window - low) / (windows[index + 1]! - low) };
  }
}
