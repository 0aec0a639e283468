/** One HTTP/2 or HTTP/3 connection to an origin, or the up to six of HTTP/1.1, with its exchanges. */
import type { Protocol } from '@hopwise/contract';
import { MAX_CONNECTIONS_PER_HOST } from '@hopwise/contract/browser-limits';
import { CODE } from '../curl/curl-constants.ts';
import type { Libcurl } from '../curl/libcurl.ts';
import { MultiHandle } from '../curl/multi-handle.ts';
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

interface UpstreamConnectionSettings {
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
  /** Whether a socket is one of the network: libcurl's resolver has others. */
  isOfNetwork: (socket: number) => boolean;
  /** How long nothing may come back over QUIC after something was sent, milliseconds. */
  silenceLimitMs: () => number;
  /** Nothing came back for so long: the server may have forgotten the connection, or the path drops what is sent. */
  onSilent: () => void;
  /** Something has come back over QUIC. */
  onHeard: () => void;
  /** The first byte of a response has come so long after its request, milliseconds. */
  onFirstByte: (afterMs: number) => void;
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

type ConnectionPhase =
  /** No exchange has been sent. */
  | { name: 'opening' }
  | { name: 'open' }
  /** It has no exchange; `was` is its phase with the next one. */
  | { name: 'idle'; was: 'opening' | 'open'; sinceMs: number; timer: NodeJS.Timeout }
  /**
   * It carries no further exchange: it has ended, its server is silent, or the origin has violated HTTP/2, where libcurl 8.14 would
   * parse the same bytes again.
   */
  | { name: 'broken'; timer: NodeJS.Timeout | null }
  | { name: 'closed' };

/** Whether the connection has a stream for another exchange, as far as is known, and the exchange that waits. */
type Streams =
  | { name: 'free' }
  /** The exchange waits for the connection to open. */
  | { name: 'opening'; waiting: ExchangeEntry }
  /** The last exchange submitted found none, and none in progress has ended since. */
  | { name: 'used-up'; waiting: ExchangeEntry | null }
  /** One has ended: libcurl gives its stream to the exchange that waits. */
  | { name: 'promised'; waiting: ExchangeEntry };

/**
 * libcurl does not report how many streams the peer allows. So exchanges are submitted, and those that libcurl does not
 * start at once are reclaimed, all but the first: libcurl reconsiders every waiting transfer on each event, and one is enough
 * to open the connection, or to get its next free stream.
 */
export class UpstreamConnection {
  readonly #settings: UpstreamConnectionSettings;
  readonly multi: MultiHandle;
  /** Detects over QUIC that the server has closed the connection as idle (RFC 9000 section 10.1) or that packets are dropped: neither is reported. */
  readonly #silence: SilenceWatch | null;
  readonly #entries = new Map<ExchangeTransfer, ExchangeEntry>();
  #phase: ConnectionPhase = { name: 'opening' };
  /** Submitted, and not yet processed by libcurl. */
  #submitted: ExchangeEntry[] = [];
  #streams: Streams = { name: 'free' };
  /**
   * How many exchanges it may have until an HTTP/2 origin says so after the first request (RFC 9113 section 3.4); then null, as
   * libcurl keeps to that number. libcurl 8.14 would send 100 by then, repeat those that are refused on new connections, and fail
   * them after 5 times.
   */
  #assumedStreams: number | null;
  #retry: NodeJS.Timeout | null = null;
  /**
   * Whether the origin may not have heard of an exchange's early end. libcurl 8.14 sends an HTTP/2 connection's `RST_STREAM` only with what it
   * sends next for another exchange.
   */
  #hasUnsentReset = false;
  /** What libcurl buffers for the slowest reader, and for all of them. */
  held = { maxBytes: 0, bytes: 0 };

  constructor(settings: UpstreamConnectionSettings) {
    const { curl, protocol, streamLimit, onFault, onActed, silenceLimitMs, onSilent, onHeard, isOfNetwork } =
      settings;
    const silence = protocol === 'h3' ? new SilenceWatch(silenceLimitMs, onSilent) : null;
    this.#settings = settings;
    this.#silence = silence;
    this.multi = new MultiHandle({
      curl,
      protocol,
      onFault: (fault) => onFault(new Error(`${this}: ${fault.message}`, { cause: fault })),
      onActed,
      onReceived: (socket) => {
        if (!silence || !isOfNetwork(socket)) return;
        silence.onReceived();
        onHeard();
      },
    });
    this.#assumedStreams = protocol === 'h2' ? (streamLimit ?? 1) : null;
  }

  /** Such as `h2 connection (open, 3 exchanges)`. */
  toString(): string {
    return `${this.#settings.protocol} connection (${this.#phase.name}, ${this.#entries.size} exchanges)`;
  }

  get transfers(): ExchangeTransfer[] {
    return [...this.#entries.keys()];
  }

  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  /** Time since its last exchange, milliseconds; 0 while it has one. */
  get idleMs(): number {
    return this.#phase.name === 'idle' ? performance.now() - this.#phase.sinceMs : 0;
  }

  /** Whether no slow reader blocks other exchanges. HTTP/1.1 has a connection for each. */
  get isHealthy(): boolean {
    if (this.isBroken) return false;
    return this.#settings.protocol === 'h1' || this.held.maxBytes <= MAX_HELD_OF_HEALTHY_BYTES;
  }

  /** Whether nothing shows yet that its server is there. */
  get isOpening(): boolean {
    return this.#phase.name === 'opening';
  }

  /** Whether it can carry no further exchange. */
  get isBroken(): boolean {
    return this.#phase.name === 'broken';
  }

  /** Whether an exchange would start at once, as far as is known, or would open the connection. */
  get canAccept(): boolean {
    if (this.#settings.protocol === 'h1') return this.#entries.size < MAX_CONNECTIONS_PER_HOST;
    if (this.#streams.name !== 'free' || this.isBroken) return false;
    if (this.#assumedStreams !== null && this.#entries.size >= this.#assumedStreams) return false;
    return this.#submitted.length < (this.isActive ? BATCH : 1);
  }

  /** Whether only its end, or its next exchange, tells the origin that its last one was ended early. */
  get hasUnsentReset(): boolean {
    return this.#hasUnsentReset;
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
    const { name } = this.#streams;
    return name === 'used-up' || name === 'promised' ? this.#streams.waiting : null;
  }

  add(entry: ExchangeEntry): void {
    const { transfer } = entry;
    if (this.#phase.name === 'idle') {
      clearTimeout(this.#phase.timer);
      this.#phase = { name: this.#phase.was };
    }
    transfer.limitConnecting(true);
    if (this.isOpening) this.#silence?.onSent();
    if (this.#assumedStreams !== null) {
      transfer.traceStreamLimit((streams) => {
        this.#assumedStreams = null;
        this.#settings.onStreamLimit(streams);
      });
    }
    this.#entries.set(transfer, entry);
    this.#submit(entry);
  }

  #submit(entry: ExchangeEntry): void {
    const { transfer } = entry;
    const done = (code: number): void => {
      this.#hasUnsentReset = false;
      if (code === CODE.HTTP2) this.#break();
      this.#leave(transfer);
      this.#settings.onEnd(entry, code);
    };
    this.multi.add(transfer.easy, done, () => transfer.measure());
    if (this.#settings.protocol !== 'h1') this.#submitted.push(entry);
  }

  /** Never from a callback of libcurl. */
  remove(transfer: ExchangeTransfer): void {
    this.#hasUnsentReset ||= this.#settings.protocol === 'h2' && transfer.connected;
    this.multi.remove(transfer.easy);
    this.#leave(transfer);
    if (this.#hasUnsentReset) setImmediate(() => this.#sendReset());
  }

  /** Another exchange in progress takes the reset along. Without one the connection's end does. */
  #sendReset(): void {
    if (!this.#hasUnsentReset) return;
    for (const transfer of this.#entries.keys()) {
      if (!transfer.connected) continue;
      transfer.runNow();
      return;
    }
  }

  /** Ends an exchange with libcurl's result code. */
  endExchange(transfer: ExchangeTransfer, code: number): void {
    const entry = this.#entries.get(transfer)!;
    this.remove(transfer);
    this.#settings.onEnd(entry, code);
  }

  #leave(transfer: ExchangeTransfer): void {
    this.#entries.delete(transfer);
    if (transfer.firstByteMs !== null) this.#settings.onFirstByte(transfer.firstByteMs);
    // Connected and answered in one go, before `reclaimUnassigned` could see it.
    if (transfer.connected) this.#noteOpen();
    if (this.isEmpty) this.#silence?.stop();
    this.#submitted = this.#submitted.filter((entry) => entry.transfer !== transfer);
    this.#streams = streamsWithout(transfer, this.#streams);
  }

  /** After libcurl has processed what was submitted: removes the exchanges that found no stream, in order. */
  reclaimUnassigned(): ExchangeEntry[] {
    const without = this.#submitted.filter(({ transfer }) => !transfer.connected);
    if (without.length < this.#submitted.length) this.#onSent();
    this.#submitted = [];
    if (this.#streams.name !== 'free' && this.#streams.waiting?.transfer.connected) {
      this.#streams = { name: 'free' };
      this.#onSent();
    }
    const [first, ...others] = without;
    if (!first) return [];
    const isOpen = this.isActive;
    this.#streams = { name: isOpen ? 'used-up' : 'opening', waiting: first };
    first.transfer.limitConnecting(!isOpen);
    for (const { transfer } of others) this.remove(transfer);
    if (isOpen && this.#settings.protocol === 'h3') this.#retryLater();
    return others;
  }

  #onSent(): void {
    this.#hasUnsentReset = false;
    // A connection that has just been opened is known to work.
    if (this.#phase.name !== 'opening') this.#silence?.onSent();
    this.#noteOpen();
  }

  #noteOpen(): void {
    if (this.#phase.name === 'opening') this.#phase = { name: 'open' };
  }

  /** Removes the exchanges that can be sent again on another connection. This one gets no further exchange. */
  reclaimFromSilence(): ExchangeEntry[] {
    this.#break();
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
      const waiting = this.waitsForStream;
      if (this.#streams.name !== 'opening') this.#streams = { name: 'free' };
      if (waiting) {
        this.multi.remove(waiting.transfer.easy);
        this.#submit(waiting);
      } else {
        // Exchanges that wait elsewhere may try this connection.
        this.#settings.onCapacity();
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

  setReading(reading: boolean): void {
    if (!reading) this.#silence?.stop();
    this.multi.setReading(reading);
  }

  /** @param run called once after `idleMs`, unless an exchange is added or the connection closed before. */
  runWhenIdle(idleMs: number, run: () => void): void {
    const phase = this.#phase;
    if (phase.name === 'broken') phase.timer ??= setTimeout(run, idleMs);
    if (phase.name !== 'opening' && phase.name !== 'open') return;
    const timer = setTimeout(run, idleMs);
    this.#phase = { name: 'idle', was: phase.name, sinceMs: performance.now(), timer };
  }

  #break(): void {
    if (!this.isBroken) this.#phase = { name: 'broken', timer: null };
  }

  close(): void {
    if (this.#retry) clearTimeout(this.#retry);
    if ('timer' in this.#phase && this.#phase.timer) clearTimeout(this.#phase.timer);
    this.#phase = { name: 'closed' };
    this.#silence?.stop();
    this.multi.close();
  }
}

/** The streams after an exchange has left: that of a connected one is free. */
function streamsWithout(transfer: ExchangeTransfer, streams: Streams): Streams {
  if (streams.name === 'free') return streams;
  const { name, waiting } = streams;
  if (waiting?.transfer === transfer) return name === 'used-up' ? { name, waiting: null } : { name: 'free' };
  if (name !== 'used-up' || !transfer.connected) return streams;
  return waiting === null ? { name: 'free' } : { name: 'promised', waiting };
}
