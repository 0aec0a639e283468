/** One HTTP/2 or HTTP/3 connection to an origin, or the up to six of HTTP/1.1, with its exchanges. */
import type { Protocol } from '@hopwise/contract';
import { CODE } from '../curl/curl-constants.ts';
import type { Libcurl } from '../curl/libcurl.ts';
import { H1_CONNECTIONS_PER_HOST, MultiHandle } from '../curl/multi-handle.ts';
import type { ExchangeTransfer } from './exchange-transfer.ts';
import { SilenceWatch } from './silence-watch.ts';

/** An exchange that waits for a connection or uses one. */
export interface ExchangeEntry {
  transfer: ExchangeTransfer;
  /** When it was requested, on the clock of `performance.now()`. */
  sinceMs: number;
  /**
   * Called at its end.
   *
   * @param code libcurl's result code.
   * @param message libcurl's message, where it is about another exchange: the one that was opening the connection.
   */
  done: (code: number, message?: string) => void;
}

export interface UpstreamConnectionSettings {
  curl: Libcurl;
  protocol: Protocol;
  /** Streams that the origin allowed on an earlier connection; null when there was none. */
  streamLimit: number | null;
  onFault: (fault: Error) => void;
  /** libcurl has processed its events. */
  onActed: () => void;
  /** libcurl has ended an exchange, which has been removed from the connection. */
  onEnd: (entry: ExchangeEntry, code: number) => void;
  /** Streams may be available again. */
  onCapacity: () => void;
  /** The origin has said how many streams an HTTP/2 connection may have. */
  onStreamLimit: (streams: number) => void;
  /** The server has sent nothing after a request: it may have forgotten the connection. */
  onSilent: () => void;
}

/**
 * What libcurl may buffer of one response whose reader is slow before the connection gets no further
 * exchange. On HTTP/3 libcurl 8.14 acknowledges what it buffers, so its buffer grows without limit whenever
 * another exchange makes it read the connection; on HTTP/2 it buffers up to 20 MiB.
 */
export const MAX_HELD_OF_HEALTHY_BYTES = 1024 * 1024;

/** Exchanges submitted to libcurl at a time: each that finds no stream has to be reclaimed. */
const BATCH = 64;

/** Time between two attempts to get a stream: some round trips. */
const RETRY_MS = 50;

/**
 * libcurl does not report how many streams the peer allows. So exchanges are submitted, and those that libcurl does not
 * start at once are reclaimed, all but the first: libcurl reconsiders every waiting transfer on each event, and one is enough
 * to open the connection, or to get its next free stream.
 */
export class UpstreamConnection {
  readonly #protocol: Protocol;
  readonly #multi: MultiHandle;
  readonly #onEnd: UpstreamConnectionSettings['onEnd'];
  readonly #onCapacity: () => void;
  readonly #entries = new Map<ExchangeTransfer, ExchangeEntry>();
  /** Submitted, and not yet processed by libcurl. */
  #submitted: ExchangeEntry[] = [];
  #waiting: ExchangeEntry | null = null;
  #waitsFor: 'connection' | 'stream' = 'connection';
  /** The last exchange submitted found no stream, and none in progress has ended since. */
  #isFull = false;
  /**
   * How many exchanges it may have; of HTTP/2 the origin says so after the first request (RFC 9113 section 3.4). libcurl 8.14 would
   * send 100 by then, repeat those that are refused on new connections, and fail them after 5 times.
   */
  #streamLimit: number;
  #hasStreamLimit = false;
  readonly #onStreamLimit: (streams: number) => void;
  #retry: NodeJS.Timeout | null = null;
  /**
   * The connection has ended, or the origin has violated HTTP/2: libcurl 8.14 would parse the same bytes again, and every further
   * exchange would fail.
   */
  #isBroken = false;
  /** What libcurl buffers for the slowest reader, and for all of them. */
  held = { maxBytes: 0, bytes: 0 };
  #idle: NodeJS.Timeout | null = null;
  #idleSinceMs: number | null = null;
  /** The first exchange has been sent. */
  #isOpen = false;
  /** Of HTTP/3: a server that gives a connection up as idle does not say so (RFC 9000 section 10.1). */
  readonly #silence: SilenceWatch | null;

  constructor(settings: UpstreamConnectionSettings) {
    const { curl, protocol, streamLimit, onFault, onActed, onEnd, onCapacity, onStreamLimit, onSilent } =
      settings;
    const silence = protocol === 'h3' ? new SilenceWatch(onSilent) : null;
    this.#protocol = protocol;
    this.#multi = new MultiHandle({
      curl,
      protocol,
      onFault,
      onActed,
      onReceived: () => silence?.onReceived(),
    });
    this.#onEnd = onEnd;
    this.#onCapacity = onCapacity;
    this.#silence = silence;
    this.#streamLimit = protocol === 'h2' ? (streamLimit ?? 1) : Infinity;
    this.#onStreamLimit = onStreamLimit;
  }

  get transfers(): ExchangeTransfer[] {
    return [...this.#entries.keys()];
  }

  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  /** Time since its last exchange, milliseconds; 0 while it has one. */
  get idleMs(): number {
    return this.#idleSinceMs === null ? 0 : performance.now() - this.#idleSinceMs;
  }

  /** Whether no slow reader blocks other exchanges. HTTP/1.1 has a connection for each. */
  get isHealthy(): boolean {
    return !this.#isBroken && (this.#protocol === 'h1' || this.held.maxBytes <= MAX_HELD_OF_HEALTHY_BYTES);
  }

  /** Whether it can carry no further exchange. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  /** Whether an exchange would start at once, as far as is known, or would open the connection. */
  get canAccept(): boolean {
    if (this.#protocol === 'h1') return this.#entries.size < H1_CONNECTIONS_PER_HOST;
    if (this.#isFull || this.#waiting || this.#isBroken) return false;
    if (this.#entries.size >= this.#streamLimit) return false;
    return this.#submitted.length < (this.isActive ? BATCH : 1);
  }

  /** Whether libcurl has yet to process a submitted exchange. */
  get isAssigning(): boolean {
    return this.#submitted.length > 0;
  }

  /** Whether there is a connection with an exchange in progress. */
  get isActive(): boolean {
    for (const transfer of this.#entries.keys()) if (transfer.connected) return true;
    return false;
  }

  /** The exchange that waits for a stream. */
  get waitsForStream(): ExchangeEntry | null {
    return this.#waitsFor === 'stream' ? this.#waiting : null;
  }

  add(entry: ExchangeEntry): void {
    const { transfer } = entry;
    if (this.#idle) clearTimeout(this.#idle);
    this.#idleSinceMs = null;
    transfer.limitConnecting(true);
    if (this.#protocol === 'h2' && !this.#hasStreamLimit) {
      transfer.traceStreamLimit((streams) => {
        this.#hasStreamLimit = true;
        // From now on libcurl keeps to it.
        this.#streamLimit = Infinity;
        this.#onStreamLimit(streams);
      });
    }
    this.#entries.set(transfer, entry);
    this.#submit(entry);
  }

  #submit(entry: ExchangeEntry): void {
    const { transfer } = entry;
    this.#multi.add(transfer.easy, (code) => {
      this.#isBroken ||= code === CODE.HTTP2;
      this.#leave(transfer);
      this.#onEnd(entry, code);
    });
    if (this.#protocol !== 'h1') this.#submitted.push(entry);
  }

  /** Never from a callback of libcurl. */
  remove(transfer: ExchangeTransfer): void {
    this.#multi.remove(transfer.easy);
    this.#leave(transfer);
  }

  /** Ends an exchange with libcurl's result code. */
  giveUp(transfer: ExchangeTransfer, code: number): void {
    const entry = this.#entries.get(transfer)!;
    this.remove(transfer);
    this.#onEnd(entry, code);
  }

  #leave(transfer: ExchangeTransfer): void {
    this.#entries.delete(transfer);
    // Connected and answered in one go, before `reclaimUnassigned` could see it.
    this.#isOpen ||= transfer.connected;
    if (this.isEmpty) this.#silence?.stop();
    this.#submitted = this.#submitted.filter((entry) => entry.transfer !== transfer);
    if (this.#waiting?.transfer === transfer) this.#waiting = null;
    else if (transfer.connected) this.#isFull = false;
  }

  /** After libcurl has processed what was submitted: removes the exchanges that found no stream, in order. */
  reclaimUnassigned(): ExchangeEntry[] {
    const without = this.#submitted.filter(({ transfer }) => !transfer.connected);
    if (without.length < this.#submitted.length) this.#onSent();
    this.#submitted = [];
    if (this.#waiting?.transfer.connected) {
      this.#waiting = null;
      this.#isFull = false;
      this.#onSent();
    }
    const [first, ...others] = without;
    if (!first) return [];
    this.#waiting = first;
    this.#isFull = this.isActive;
    this.#waitsFor = this.#isFull ? 'stream' : 'connection';
    first.transfer.limitConnecting(!this.#isFull);
    for (const { transfer } of others) this.remove(transfer);
    if (this.#isFull && this.#protocol === 'h3') this.#retryLater();
    return others;
  }

  #onSent(): void {
    // A connection that has just been opened is known to work.
    if (this.#isOpen) this.#silence?.onSent();
    this.#isOpen = true;
  }

  /** Removes the exchanges that can be sent again on another connection. This one gets no further exchange. */
  reclaimFromSilence(): ExchangeEntry[] {
    this.#isBroken = true;
    const repeatable = [...this.#entries.values()].filter(({ transfer }) => transfer.canRestart);
    for (const { transfer } of repeatable) {
      this.remove(transfer);
      transfer.restart();
    }
    return repeatable;
  }

  /**
   * On HTTP/3 the peer grants new streams some time after others have ended (RFC 9000, section 19.11), and libcurl 8.14 does not
   * act on that: a full connection is retried.
   */
  #retryLater(): void {
    this.#retry ??= setTimeout(() => {
      this.#retry = null;
      this.#isFull = false;
      const waiting = this.waitsForStream;
      if (waiting) {
        this.#multi.remove(waiting.transfer.easy);
        this.#waiting = null;
        this.#submit(waiting);
      } else {
        // Exchanges that wait elsewhere may try this connection.
        this.#onCapacity();
      }
    }, RETRY_MS);
  }

  /** Removes the exchange that waits for a stream of a connection that has ended: opening a new one has a time limit. */
  reclaimOrphans(): ExchangeEntry[] {
    const waiting = this.waitsForStream;
    if (!waiting || this.isActive) return [];
    this.remove(waiting.transfer);
    return [waiting];
  }

  /** As `MultiHandle.sockets`. */
  get sockets(): number[] {
    return this.#multi.sockets;
  }

  runDue(): void {
    this.#multi.runDue();
  }

  /** Has libcurl start submitted exchanges now, not at the end of this turn. Never from a callback of libcurl. */
  runDeferred(): void {
    this.#multi.runDeferred();
  }

  setReading(reading: boolean): void {
    if (!reading) this.#silence?.stop();
    this.#multi.setReading(reading);
  }

  readOnce(): void {
    this.#multi.readOnce();
  }

  /** @param run called after `idleMs`, unless an exchange is added before. */
  whenIdle(idleMs: number, run: () => void): void {
    this.#idleSinceMs = performance.now();
    this.#idle = setTimeout(run, idleMs);
  }

  close(): void {
    if (this.#retry) clearTimeout(this.#retry);
    this.#silence?.stop();
    this.#multi.close();
  }
}
