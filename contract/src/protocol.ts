/** The HTTP versions hopwise chooses between. */
export const PROTOCOLS = ['h1', 'h2', 'h3'] as const;

/** An HTTP version: HTTP/1.1, HTTP/2 or HTTP/3. */
export type Protocol = (typeof PROTOCOLS)[number];

/** The protocol of each origin (`https://host[:port]`, without trailing slash). */
export type Assignment = Record<string, Protocol>;

/** Names for display. */
export const PROTOCOL_NAME: Record<Protocol, string> = { h1: 'HTTP/1.1', h2: 'HTTP/2', h3: 'HTTP/3' };
