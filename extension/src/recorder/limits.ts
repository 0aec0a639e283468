/** Requests kept of a page, and resources and script requests kept of a frame. */
export const MAX_ENTRIES = 5000;

/** Characters of a URL or of a stack trace. */
export const MAX_TEXT_CHARS = 8192;

/** Characters of all script requests of a frame together: the browser refuses messages beyond 64 MiB. */
export const MAX_SCRIPT_REQUEST_CHARS = 8 * 1024 * 1024;

/** Frames of a page that are queried for their timings. */
export const MAX_FRAMES = 200;
