import type { ServerHttp2Session } from 'node:http2';
import type { Duplex } from 'node:stream';

const EVERY_MS = 30_000;
/** Consecutive ones: an answer may still be in flight when a machine wakes up. */
const MAX_UNANSWERED = 2;

/**
 * Ends a connection whose peer answers no PING (RFC 9113, section 6.7): when the peer disappears during a write, Node 24 gets
 * no event, and would keep socket and streams for ever (nodejs/node#42710). Node sends no PING for a session that is being closed,
 * which has a time limit.
 */
export function endUnlessAnswered(session: ServerHttp2Session, socket: Duplex, everyMs = EVERY_MS): void {
  let unanswered = 0;
  const timer = setInterval(() => {
    if (unanswered >= MAX_UNANSWERED || session.destroyed) {
      socket.destroy();
      return;
    }
    if (session.closed) return;
    unanswered += 1;
    session.ping((fault) => {
      if (!fault) unanswered = 0;
    });
  }, everyMs);
  socket.once('close', () => clearInterval(timer));
}
