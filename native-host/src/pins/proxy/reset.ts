import type { Socket } from 'node:net';

/**
 * Resets a connection. Between `end` and the FIN libuv refuses a reset (`uv_tcp_close_reset`); Node 24 then leaks the handle, and
 * the process never ends. So this waits for the FIN.
 */
export function reset(socket: Socket): void {
  const isEnding = socket.writableEnded && !socket.writableFinished && socket.writableLength === 0;
  if (isEnding && !socket.destroyed) socket.once('finish', () => socket.resetAndDestroy());
  else socket.resetAndDestroy();
}
