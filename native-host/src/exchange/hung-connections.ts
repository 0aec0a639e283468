/** TCP connections whose peer has gone without a word. */
import type { TcpSilence } from '../curl/tcp-info.ts';

/**
 * How long a peer may acknowledge nothing of what it was sent, milliseconds. Chromium takes 10 s without a byte for a risk, and
 * gives up an HTTP/2 connection that answers no `PING` within 10 s from then on (net/spdy/spdy_session.cc:
 * `kDefaultConnectionAtRiskOfLossSeconds`, `kHungIntervalSeconds`). Linux would send again for a quarter of an hour.
 */
export const HUNG_AFTER_MS = 20_000;

/** How often what was sent must have gone unanswered, as packets get lost: at a closed window the kernel asks once in minutes only. */
const LEAST_UNANSWERED = 3;

/** How many times connections are looked at within the limit. */
const LOOKS = 10;

/** Probes of a silent connection: the kernel asks whether the peer is there. Whole seconds, as the kernel has them. */
export interface KeepAlive {
  /** Silence before the first one. */
  idleS: number;
  intervalS: number;
  /** After so many without an answer the connection has ended. */
  count: number;
}

/** Five probes in the second half of the limit: one that gets lost is no sign. */
const PROBES = 5;

/** Has the kernel end a connection after the limit on which there is nothing to acknowledge. */
export function keepAliveWithin(limitMs: number): KeepAlive {
  const limitS = Math.max(2, Math.round(limitMs / 1000));
  const idleS = Math.floor(limitS / 2);
  const intervalS = Math.max(1, Math.round((limitS - idleS) / PROBES));
  return { idleS, intervalS, count: Math.max(1, Math.round((limitS - idleS) / intervalS)) };
}

export interface HungConnectionsOptions {
  limitMs: number;
  /** Those with something under way; null once nothing is, anywhere. */
  sockets: () => readonly number[] | null;
  read: (socket: number) => TcpSilence | null;
  reset: (socket: number) => void;
}

/**
 * Resets connections whose peer acknowledges nothing of what it was sent. A peer that is silent, or that takes nothing more for
 * now, acknowledges all the same: `TCP_USER_TIMEOUT`, which counts a closed window as well, would end uploads that wait.
 */
export class HungConnections {
  readonly #options: HungConnectionsOptions;
  /** By socket, since when what was sent is not answered. */
  #waiting: ReadonlyMap<number, number> = new Map();
  #looks: NodeJS.Timeout | null = null;

  constructor(options: HungConnectionsOptions) {
    this.#options = options;
  }

  /** Something is under way from now on. */
  watch(): void {
    this.#looks ??= setInterval(() => this.#look(), this.#options.limitMs / LOOKS);
  }

  #look(): void {
    const { limitMs, sockets, read, reset } = this.#options;
    const now = performance.now();
    const waiting = new Map<number, number>();
    const all = sockets();
    for (const socket of all ?? []) {
      const silence = read(socket);
      if (!silence || silence.unanswered === 0) continue;
      const sinceMs = this.#waiting.get(socket) ?? now;
      // The kernel gives the numbers of closed sockets out again; a new connection has heard of its peer since.
      const isUnheard = now - silence.unheardMs <= sinceMs;
      if (isUnheard && now - sinceMs >= limitMs && silence.unanswered >= LEAST_UNANSWERED) reset(socket);
      else waiting.set(socket, isUnheard ? sinceMs : now);
    }
    this.#waiting = waiting;
    if (all || !this.#looks) return;
    clearInterval(this.#looks);
    this.#looks = null;
  }
}
