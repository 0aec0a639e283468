import { cLibrary } from './c-library.ts';

/** `struct sockaddr` of the family `AF_UNSPEC`, whose number is 0. */
const NO_ADDRESS = Buffer.alloc(16);

/**
 * A function that ends a TCP connection as if its peer had reset it: the next read fails with `ECONNRESET` (connect(2),
 * dissolving an association). After `shutdown` it would read an end of stream, which could pass for the end of a
 * response. It does nothing on systems other than Linux.
 */
export function tcpResetter(): (socket: number) => void {
  const connect = cLibrary()?.func('int connect(int socket, const void *address, uint length)');
  return (socket) => connect?.(socket, NO_ADDRESS, NO_ADDRESS.length);
}
