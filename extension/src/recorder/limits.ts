/** Requests kept of a page, and resources and script runs kept of a frame. */
export const MAX_ENTRIES = 5000;

/** Characters of a URL. */
export const MAX_TEXT_CHARS = 8192;

/** Characters of the URLs of a frame's script runs together: the browser refuses messages beyond 64 MiB. */
export const MAX_SCRIPT_RUN_CHARS = 8 * 1024 * 1024;

/** Frames of a page that are queried for their timings. */
export const MAX_FRAMES = 200;

/** A page that has not fired its load event by now, milliseconds after the navigation, is recorded as it is. */
export const LOAD_TIMEOUT_MS = 30_000;
