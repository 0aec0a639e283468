/** Most requests of a page, resources of a frame, and asks of a frame that are kept. */
export const MAX_ENTRIES = 5000;

/** Longest URL or stack. */
export const MAX_TEXT = 8192;
