/** Most requests of a page, resources of a frame, and asks of a frame that are kept. */
export const MAX_ENTRIES = 5000;

/** Longest URL or stack. */
export const MAX_TEXT = 8192;

/** Characters of all asks of a frame together: the browser refuses messages beyond 64 MiB. */
export const MAX_ASKS_TEXT = 8 * 1024 * 1024;

/** Most frames of a page that are asked for their timings. */
export const MAX_FRAMES = 200;
