import type { Protocol } from '@hopwise/native-host/messages';

/** As written for a person. */
export const PROTOCOL_NAME: Record<Protocol, string> = { h1: 'HTTP/1.1', h2: 'HTTP/2', h3: 'HTTP/3' };
