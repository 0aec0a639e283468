/** Limits of a browser's connections, which the emulator models and the helper keeps to. */

/** TCP connections to one host at a time under HTTP/1.1, in Chromium (`g_max_sockets_per_group`) and Firefox. */
export const MAX_CONNECTIONS_PER_HOST = 6;
/** All TCP sockets of Chromium (`ClientSocketPoolManager`, `g_max_sockets_per_pool`). */
export const MAX_SOCKETS = 256;
/** Concurrent requests on one connection, where the server allows as many (Chromium's `kMaxConcurrentStreamLimit`). */
export const MAX_CONCURRENT_STREAMS = 256;
