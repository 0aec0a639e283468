import type { ServerHttp2Session } from 'node:http2';
import type { Duplex } from 'node:stream';

const EVERY_MS = 30_000;
/** In a row: the answer to one may still be on its way when a machine wakes up. */
const MAX_UNANSWERED = 2;

/**
 * Ends a connection whose other end answers no PING (RFC 9113, section 6.7): where it goes in the moment of a write, Node 24 hears
 * neither of that nor of anything else, and would keep socket and streams for ever (nodejs/node#42710).
 */
export function endUnlessAnswered(session: ServerHttp2Session, socket: Duplex, everyMs = EVERY_MS): void {
  let unanswered = 0;
  const timer = setInterval(() => {
    if (unanswered >= MAX_UNANSWERED || session.destroyed) {
      socket.destroy();
      return;
    }
    unanswered += 1;
    session.ping((fault) => {
      if (!fault) unanswered = 0;
    });
  }, everyMs);
  socket.once('close', () => clearInterval(timer));
}
