/** One connection of HTTP/2 or HTTP/3 to an origin, or the few of HTTP/1.1, with its exchanges. */
import type { Protocol } from '@hopwise/contract';
import { CODE } from '../curl/curl-constants.ts';
import type { Libcurl } from '../curl/libcurl.ts';
import { H1_CONNECTIONS_PER_HOST, MultiHandle } from '../curl/multi-handle.ts';
import type { ExchangeTransfer } from './exchange-transfer.ts';

/** An exchange on its way to a connection, or on one. */
export interface Entry {
  transfer: ExchangeTransfer;
  /** When it came, on the clock of `performance.now()`. */
  sinceMs: number;
  /**
   * Its end.
   *
   * @param code libcurl's.
   * @param words libcurl's own, where they are about another exchange: the one that was to open the connection.
   */
  done: (code: number, words?: string) => void;
}

export interface LaneSettings {
  curl: Libcurl;
  protocol: Protocol;
  onFault: (fault: Error) => void;
  /** libcurl has done what there was to do. */
  onActed: () => void;
  /** libcurl has ended an exchange, which has left the lane. */
  onEnd: (entry: Entry, code: number) => void;
  /** There may be streams again where there were none. */
  onRoom: () => void;
}

/**
 * What libcurl may hold of one response that waits for its reader before the connection gets no
 * further exchange. libcurl 8.14 acknowledges what it holds on HTTP/3, and so takes more without
 * end whenever another exchange makes it read the connection; on HTTP/2 it takes 20 MiB.
 */
export const HELD_OF_GOOD_LANE_BYTES = 1024 * 1024;

/** Exchanges handed to libcurl at a time: each that finds no stream has to be taken back. */
const BATCH = 64;

/** Time between two tries to get a stream: some round trips. */
const RETRY_MS = 50;

/**
 * libcurl does not tell how many streams the peer allows. An exchange that it does not put on the connection as soon as it
 * looks at it waits there, and is the only one to: libcurl looks at all that wait whenever something changes. It opens the
 * connection where there is none, and gets the next stream where there is one.
 */
export class Lane {
  readonly #protocol: Protocol;
  readonly #multi: MultiHandle;
  readonly #onEnd: LaneSettings['onEnd'];
  readonly #onRoom: () => void;
  readonly #entries = new Map<ExchangeTransfer, Entry>();
  /** libcurl has not looked at them. */
  #fresh: Entry[] = [];
  #waiting: Entry | null = null;
  #waitsFor: 'connection' | 'stream' = 'connection';
  /** There was no stream for the last one that came, and none of those under way has ended since. */
  #isFull = false;
  #retry: NodeJS.Timeout | null = null;
  /**
   * The connection has ended, or the origin has broken the rules of HTTP/2: libcurl 8.14 would read again what it cannot read, and
   * every further exchange would fail by it.
   */
  #isBroken = false;
  /** What libcurl holds for the slowest reader, and for all of them. */
  held = { mostBytes: 0, bytes: 0 };
  #idle: NodeJS.Timeout | null = null;

  constructor({ curl, protocol, onFault, onActed, onEnd, onRoom }: LaneSettings) {
    this.#protocol = protocol;
    this.#multi = new MultiHandle({ curl, protocol, onFault, onActed });
    this.#onEnd = onEnd;
    this.#onRoom = onRoom;
  }

  get transfers(): ExchangeTransfer[] {
    return [...this.#entries.keys()];
  }

  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  /** Whether no slow reader is in the way of others. HTTP/1.1 has a connection for each exchange. */
  get isGood(): boolean {
    return !this.#isBroken && (this.#protocol === 'h1' || this.held.mostBytes <= HELD_OF_GOOD_LANE_BYTES);
  }

  /** Whether it is of no use any more. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  /** Whether an exchange goes out at once, as far as can be known, or opens the connection. */
  get takes(): boolean {
    if (this.#protocol === 'h1') return this.#entries.size < H1_CONNECTIONS_PER_HOST;
    if (this.#isFull || this.#waiting || this.#isBroken) return false;
    return this.#fresh.length < (this.carries ? BATCH : 1);
  }

  /** Whether libcurl is about to look at something that came. */
  get isUndecided(): boolean {
    return this.#fresh.length > 0;
  }

  /** Whether there is a connection, and something under way on it. */
  get carries(): boolean {
    for (const transfer of this.#entries.keys()) if (transfer.connected) return true;
    return false;
  }

  /** The one that waits for a stream. */
  get waitsForStream(): Entry | null {
    return this.#waitsFor === 'stream' ? this.#waiting : null;
  }

  add(entry: Entry): void {
    const { transfer } = entry;
    if (this.#idle) clearTimeout(this.#idle);
    transfer.limitConnecting(true);
    this.#entries.set(transfer, entry);
    this.#handOver(entry);
  }

  #handOver(entry: Entry): void {
    const { transfer } = entry;
    this.#multi.add(transfer.easy, (code) => {
      this.#isBroken ||= code === CODE.HTTP2;
      this.#leave(transfer);
      this.#onEnd(entry, code);
    });
    if (this.#protocol !== 'h1') this.#fresh.push(entry);
  }

  /** Never from a callback of libcurl. */
  remove(transfer: ExchangeTransfer): void {
    this.#multi.remove(transfer.easy);
    this.#leave(transfer);
  }

  /** Ends an exchange as libcurl would. */
  giveUp(transfer: ExchangeTransfer, code: number): void {
    const entry = this.#entries.get(transfer)!;
    this.remove(transfer);
    this.#onEnd(entry, code);
  }

  #leave(transfer: ExchangeTransfer): void {
    this.#entries.delete(transfer);
    this.#fresh = this.#fresh.filter((entry) => entry.transfer !== transfer);
    if (this.#waiting?.transfer === transfer) this.#waiting = null;
    else if (transfer.connected) this.#isFull = false;
  }

  /** After libcurl has looked at what came: takes back what has no place here, in order. */
  turnedBack(): Entry[] {
    const without = this.#fresh.filter(({ transfer }) => !transfer.connected);
    this.#fresh = [];
    if (this.#waiting?.transfer.connected) {
      this.#waiting = null;
      this.#isFull = false;
    }
    const [first, ...others] = without;
    if (!first) return [];
    this.#waiting = first;
    this.#isFull = this.carries;
    this.#waitsFor = this.#isFull ? 'stream' : 'connection';
    first.transfer.limitConnecting(!this.#isFull);
    for (const { transfer } of others) this.remove(transfer);
    if (this.#isFull && this.#protocol === 'h3') this.#retryLater();
    return others;
  }

  /**
   * On HTTP/3 streams are allowed again some time after others have ended (RFC 9000, section 19.11), which libcurl 8.14 does not
   * act on: whatever is full is tried again.
   */
  #retryLater(): void {
    this.#retry ??= setTimeout(() => {
      this.#retry = null;
      this.#isFull = false;
      const waiting = this.waitsForStream;
      if (waiting) {
        this.#multi.remove(waiting.transfer.easy);
        this.#waiting = null;
        this.#handOver(waiting);
      } else {
        // What waits elsewhere may try here.
        this.#onRoom();
      }
    }, RETRY_MS);
  }

  /** Takes back the one that waits for a stream of a connection that is no more: for opening one there is a limit of time. */
  stranded(): Entry[] {
    const waiting = this.waitsForStream;
    if (!waiting || this.carries) return [];
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

  /** Hands what has come to libcurl now, not at the end of this turn. Never from a callback of libcurl. */
  runAsked(): void {
    this.#multi.runAsked();
  }

  setReading(reading: boolean): void {
    this.#multi.setReading(reading);
  }

  readOnce(): void {
    this.#multi.readOnce();
  }

  /** @param run after `idleMs`, unless an exchange comes before. */
  whenIdle(idleMs: number, run: () => void): void {
    this.#idle = setTimeout(run, idleMs);
  }

  close(): void {
    if (this.#retry) clearTimeout(this.#retry);
    this.#multi.close();
  }
}
