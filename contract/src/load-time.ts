/**
 * Distribution of a load time: median, 10th and 90th percentile, between which four of five single loads lie. It covers random
 * losses, the network's uncertainty, the emulator's error and the browser's own scatter.
 */
export interface LoadTime {
  /** navigationStart to loadEventEnd (PLT), milliseconds, median. */
  pltMs: number;
  /** 10th percentile, milliseconds. */
  low: number;
  /** 90th percentile, milliseconds. */
  high: number;
}
