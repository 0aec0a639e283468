/** TCP connections to one host at a time, in Chromium (`g_max_sockets_per_group`) and Firefox. */
export const MAX_CONNECTIONS_PER_HOST = 6;
