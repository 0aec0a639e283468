import type { Socket } from 'node:net';
import type { AddressSpace } from '@hopwise/contract';
import { explainRefusal } from '../../base/permitted-address.ts';
import { EndWhenIdle } from './end-when-idle.ts';
import { reset } from './reset.ts';

/**
 * Silence after which an open tunnel is ended. RFC 5382 (REQ-5) requires the same minimum of NATs, so that a tunnel ends a silent
 * event stream or WebSocket no earlier than the path may.
 */
export const IDLE_TIMEOUT_MS = 124 * 60_000;

/** Silence after which a tunnel is ended that one side has closed: the minimum of RFC 5382 (REQ-5) for transitory connections. */
export const HALF_CLOSED_TIMEOUT_MS = 4 * 60_000;

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
  /** Undefined where it was closed before. */
  readonly #originAddress: string | undefined;
  readonly #ending: EndWhenIdle;

  constructor(browser: Socket, origin: Socket, timeouts: TunnelTimeouts) {
    this.#browser = browser;
    this.#origin = origin;
    this.#originAddress = origin.remoteAddress;
    pass(browser, origin, timeouts.halfClosedMs);
    pass(origin, browser, timeouts.halfClosedMs);
    this.#ending = new EndWhenIdle(browser, origin, () => this.destroy());
    // Every byte passes through the browser's socket, so that its timer covers both directions.
    browser.setTimeout(timeouts.idleMs, () => this.destroy());
    for (const side of [browser, origin]) side.once('end', () => browser.setTimeout(timeouts.halfClosedMs));
  }

  /** Whether a page of this address space may reach where the tunnel leads. */
  isPermitted(from: AddressSpace): boolean {
    return this.#originAddress !== undefined && explainRefusal(this.#originAddress, from) === '';
  }

  /** @param limitMs as in `EndWhenIdle.start` */
  endWhenIdle(limitMs: number): void {
    this.#ending.start(limitMs);
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
