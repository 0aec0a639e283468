/** What a person does not notice is not worth a word: less than this, or less of the load time. */
const MIN_GAIN_MS = 1_000;
const MIN_GAIN = 0.2;

/** Whether a person notices that a page takes the shorter of two load times in place of the longer one. */
export function isNoticeable(longerMs: number, shorterMs: number): boolean {
  return longerMs - shorterMs >= Math.max(MIN_GAIN_MS, MIN_GAIN * longerMs);
}
