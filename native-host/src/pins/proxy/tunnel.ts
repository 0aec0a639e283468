import type { Socket } from 'node:net';
import { reset } from './reset.ts';

/**
 * Silence after which an open tunnel is ended. RFC 5382 (REQ-5) requires the same minimum of NATs, so that a tunnel ends a silent
 * event stream or WebSocket no earlier than the path may.
 */
export const IDLE_TIMEOUT_MS = 124 * 60_000;

/** Silence after which a tunnel is ended that one side has closed: the minimum of RFC 5382 (REQ-5) for transitory connections. */
export const HALF_CLOSED_TIMEOUT_MS = 4 * 60_000;

/**
 * Silence after which a tunnel that has to end counts as idle. After bytes of the origin: longer than the pauses within a transfer,
 * including retransmissions. After bytes of the browser: an answer is awaited.
 */
const QUIET_AFTER_ORIGIN_MS = 1_000;
const QUIET_AFTER_BROWSER_MS = 10_000;

const NOTHING = Buffer.alloc(0);

interface TunnelTimeouts {
  idleMs: number;
  halfClosedMs: number;
}

/**
 * Forwards bytes, ends and resets between two connected sockets. Both have `allowHalfOpen`; backpressure applies in both
 * directions.
 */
export class Tunnel {
  readonly #browser: Socket;
  readonly #origin: Socket;
  #browserAtMs = performance.now();
  #originAtMs = 0;
  #ending: NodeJS.Timeout | undefined;

  constructor(browser: Socket, origin: Socket, timeouts: TunnelTimeouts) {
    this.#browser = browser;
    this.#origin = origin;
    pass(browser, origin, timeouts.halfClosedMs);
    pass(origin, browser, timeouts.halfClosedMs);
    browser.on('data', () => {
      this.#browserAtMs = performance.now();
    });
    origin.on('data', () => {
      this.#originAtMs = performance.now();
    });
    // Every byte passes through the browser's socket, so that its timer covers both directions.
    browser.setTimeout(timeouts.idleMs, () => this.destroy());
    for (const side of [browser, origin]) {
      side.once('end', () => browser.setTimeout(timeouts.halfClosedMs));
      side.once('close', () => clearTimeout(this.#ending));
    }
  }

  /**
   * Ends the tunnel once it is idle, at once if it has been idle long enough. A browser repeats a request that is lost on a reused
   * idle connection, but not on a new one or after its response has begun.
   */
  endWhenIdle(): void {
    clearTimeout(this.#ending);
    const answered = this.#originAtMs >= this.#browserAtMs;
    const sinceMs = answered ? this.#originAtMs : this.#browserAtMs;
    const dueMs = sinceMs + (answered ? QUIET_AFTER_ORIGIN_MS : QUIET_AFTER_BROWSER_MS) - performance.now();
    if (dueMs <= 0) this.destroy();
    else this.#ending = setTimeout(() => this.endWhenIdle(), Math.min(dueMs, QUIET_AFTER_ORIGIN_MS));
  }

  destroy(): void {
    this.#browser.destroy();
    this.#origin.destroy();
  }
}

function pass(from: Socket, to: Socket, lingerMs: number): void {
  from.pipe(to);
  from.on('error', () => {
    if (!to.writable) {
      reset(to);
      return;
    }
    // Bytes before the reset are delivered first, as on a direct connection, unless the other side does not read them.
    to.setTimeout(lingerMs, () => reset(to));
    to.write(NOTHING, () => reset(to));
  });
}
