import type { Socket } from 'node:net';

/**
 * Ends a connection by a reset. In the moment between `end` and its going out libuv refuses to (`uv_tcp_close_reset`), and Node 24 then
 * loses the descriptor, waits for it at the process's end and never ends: that moment is waited for.
 */
export function reset(socket: Socket): void {
  const isEnding = socket.writableEnded && !socket.writableFinished && socket.writableLength === 0;
  if (isEnding && !socket.destroyed) socket.once('finish', () => socket.resetAndDestroy());
  else socket.resetAndDestroy();
}
