/** TCP connections whose peer has vanished without closing them. */
import type { TcpSilence } from '../curl/tcp-info.ts';

/**
 * How long a peer may leave sent data unacknowledged, milliseconds. After 10 s without a byte, Chromium sends a `PING` on an HTTP/2
 * connection and closes it if there is no answer within another 10 s (net/spdy/spdy_session.cc:
 * `kDefaultConnectionAtRiskOfLossSeconds`, `kHungIntervalSeconds`). Linux would retransmit for a quarter of an hour.
 */
export const HUNG_AFTER_MS = 20_000;

/** Retransmissions and probes without an answer, as packets get lost: at a closed window the kernel probes only once in minutes. */
const MIN_UNANSWERED = 3;

/** How many times connections are checked within the limit. */
const CHECKS = 10;

/** TCP keep-alive of a silent connection, in whole seconds as the kernel has them. */
export interface KeepAlive {
  /** Silence before the first probe. */
  idleS: number;
  intervalS: number;
  /** Number of unanswered probes after which the kernel ends the connection. */
  count: number;
}

/** Five probes in the second half of the limit: a single lost one means nothing. */
const PROBES = 5;

/** Settings by which the kernel ends a dead connection after the limit when no sent data is unacknowledged. */
export function keepAliveWithin(limitMs: number): KeepAlive {
  const limitS = Math.max(2, Math.round(limitMs / 1000));
  const idleS = Math.floor(limitS / 2);
  const intervalS = Math.max(1, Math.round((limitS - idleS) / PROBES));
  return { idleS, intervalS, count: Math.max(1, Math.round((limitS - idleS) / intervalS)) };
}

interface HungConnectionsOptions {
  limitMs: number;
  /** Sockets with an exchange in progress; null once there is no exchange at all. */
  sockets: () => readonly number[] | null;
  read: (socket: number) => TcpSilence | null;
  /** Whether the machine still has the socket's local address. */
  hasAddress: (socket: number) => boolean;
  reset: (socket: number) => void;
}

/**
 * Resets connections whose peer acknowledges nothing of what it was sent: at once when the machine has lost their address. A peer that is silent, or whose window is closed,
 * still acknowledges: `TCP_USER_TIMEOUT`, which counts a closed window as well, would end uploads that wait.
 */
export class HungConnections {
  readonly #options: HungConnectionsOptions;
  /** By socket: since when sent data is unacknowledged, on the clock of `performance.now()`. */
  #waiting: ReadonlyMap<number, number> = new Map();
  #timer: NodeJS.Timeout | null = null;

  constructor(options: HungConnectionsOptions) {
    this.#options = options;
  }

  /** Starts checking; to be called when an exchange begins. */
  watch(): void {
    this.#timer ??= setInterval(() => this.#check(), this.#options.limitMs / CHECKS);
  }

  #check(): void {
    const { limitMs, sockets, read, hasAddress, reset } = this.#options;
    const now = performance.now();
    const waiting = new Map<number, number>();
    const all = sockets();
    for (const socket of all ?? []) {
      const silence = read(socket);
      if (!silence || silence.unanswered === 0) continue;
      const sinceMs = this.#waiting.get(socket) ?? now;
      // The kernel reuses the numbers of closed sockets; a new connection has heard from its peer since.
      const isUnheard = now - silence.unheardMs <= sinceMs;
      const isHung = isUnheard && now - sinceMs >= limitMs && silence.unanswered >= MIN_UNANSWERED;
      if (isHung || !hasAddress(socket)) reset(socket);
      else waiting.set(socket, isUnheard ? sinceMs : now);
    }
    this.#waiting = waiting;
    if (all || !this.#timer) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }
}
