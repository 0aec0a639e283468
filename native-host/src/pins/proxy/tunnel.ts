import type { Socket } from 'node:net';
import { reset } from './reset.ts';

/**
 * Silence after which an open tunnel is ended: RFC 5382 (REQ-5) asks as much of the boxes on the way, so that a page's
 * event stream or WebSocket outlives this no sooner than those.
 */
export const IDLE_TIMEOUT_MS = 124 * 60_000;

/** The same for a tunnel that one side has closed, as RFC 5382 (REQ-5) has it for connections that end. */
export const HALF_CLOSED_TIMEOUT_MS = 4 * 60_000;

/**
 * Silence by which a tunnel that is to end counts as idle. After bytes of the origin a longer pause than those between the
 * packets of a transfer, their retransmissions with it; after bytes of the browser it waits for an answer.
 */
const QUIET_AFTER_ORIGIN_MS = 1_000;
const QUIET_AFTER_BROWSER_MS = 10_000;

const NOTHING = Buffer.alloc(0);

export interface TunnelTimeouts {
  idleMs: number;
  halfClosedMs: number;
}

/**
 * Passes bytes, ends and resets between two connected sockets, each as it comes. Both are of `allowHalfOpen`; what one
 * does not read is not read from the other.
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
    // Every byte passes the browser's socket, so that its timer sees both directions.
    browser.setTimeout(timeouts.idleMs, () => this.destroy());
    for (const side of [browser, origin]) {
      side.once('end', () => browser.setTimeout(timeouts.halfClosedMs));
      side.once('close', () => clearTimeout(this.#ending));
    }
  }

  /**
   * Ends the tunnel when it is idle: at once if it has been so for a while. A browser repeats a request that an idle
   * connection lost, but not one whose connection is new or whose answer has begun.
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
    // What came before the reset is delivered before it, as a direct connection would, unless nobody takes it.
    to.setTimeout(lingerMs, () => reset(to));
    to.write(NOTHING, () => reset(to));
  });
}
