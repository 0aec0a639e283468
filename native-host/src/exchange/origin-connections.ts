/** The lanes of one origin under one protocol: which exchange goes on which, and which ones wait. */
import type { Protocol } from '@hopwise/contract';
import { CODE } from '../curl/curl-constants.ts';
import type { Libcurl } from '../curl/libcurl.ts';
import type { ExchangeTransfer } from './exchange-transfer.ts';
import { type Entry, Lane } from './upstream-connection.ts';

/**
 * Connections to an origin that take exchanges, at most: RFC 9113 section 9.1 and RFC 9114 section 3.3 want one, as long as
 * it has streams.
 */
const GOOD_LANES = 4;

/**
 * With those that slow readers fill. Each of them may fill a connection of its own, where over HTTP/1.1 it would have
 * one anyway.
 */
const LANES = 64;

/** How long an exchange waits for a stream before there is another connection. */
const PATIENCE_MS = 500;

/** As long as libcurl itself keeps an idle connection (`CURLOPT_MAXAGE_CONN`). */
const IDLE_MS = 118_000;

export interface OriginLanesSettings {
  curl: Libcurl;
  protocol: Protocol;
  /** Its one exchange is to meet no connection that is there, and to leave none. */
  fresh: boolean;
  onFault: (fault: Error) => void;
  onOpened: (lane: Lane) => void;
  /** libcurl has done what there was to do. */
  onActed: (lane: Lane) => void;
  onClosed: (lane: Lane) => void;
}

export class OriginLanes {
  readonly #settings: OriginLanesSettings;
  readonly #lanes = new Set<Lane>();
  readonly #laneOf = new Map<ExchangeTransfer, Lane>();
  /** Those that are in no lane, in order. */
  #queue: Entry[] = [];
  #patience: NodeJS.Timeout | null = null;

  constructor(settings: OriginLanesSettings) {
    this.#settings = settings;
  }

  get isEmpty(): boolean {
    return this.#lanes.size === 0 && this.#queue.length === 0;
  }

  laneOf(transfer: ExchangeTransfer): Lane | null {
    return this.#laneOf.get(transfer) ?? null;
  }

  add(entry: Entry): void {
    this.#queue.push(entry);
    this.feed();
  }

  remove(transfer: ExchangeTransfer): void {
    const lane = this.#laneOf.get(transfer);
    if (lane) {
      lane.remove(transfer);
      this.#left(lane, transfer);
    } else this.#queue = this.#queue.filter((entry) => entry.transfer !== transfer);
    this.feed();
  }

  /** Hands on what waits, as far as there is a place for it. */
  feed(): void {
    if (this.#patience) clearTimeout(this.#patience);
    this.#patience = null;
    for (;;) {
      const [next, from] = this.#first();
      if (!next) return;
      const lane = this.#laneFor(next);
      if (!lane) {
        this.#feedLater(next);
        return;
      }
      if (from) from.remove(next.transfer);
      else this.#queue.shift();
      this.#laneOf.set(next.transfer, lane);
      lane.add(next);
    }
  }

  /** The exchange that has waited longest, and the lane that it waits in; null for none. */
  #first(): [Entry | null, Lane | null] {
    let first: [Entry | null, Lane | null] = [this.#queue[0] ?? null, null];
    for (const lane of this.#lanes) {
      const entry = lane.waitsForStream;
      if (entry && (!first[0] || entry.sinceMs <= first[0].sinceMs)) first = [entry, lane];
    }
    return first;
  }

  /** null where there is nothing but to wait. */
  #laneFor({ sinceMs }: Entry): Lane | null {
    const lanes = [...this.#lanes];
    const good = lanes.filter(({ isGood }) => isGood);
    const first = good.find(({ takes, isUndecided }) => takes || isUndecided);
    if (first) return first.takes ? first : null;
    if (lanes.length === 0) return this.#open();
    if (this.#settings.protocol === 'h1') return null;
    const isOpening = good.some(({ isEmpty, carries }) => !isEmpty && !carries);
    const isLate = performance.now() - sinceMs >= PATIENCE_MS;
    if (isOpening || (good.length > 0 && !(isLate && good.length < GOOD_LANES))) return null;
    if (lanes.length < LANES) return this.#open();
    const taking = lanes.filter(({ takes }) => takes);
    return taking.sort((a, b) => a.held.bytes - b.held.bytes)[0] ?? null;
  }

  #feedLater({ sinceMs }: Entry): void {
    const leftMs = sinceMs + PATIENCE_MS - performance.now();
    if (leftMs > 0 && this.#settings.protocol !== 'h1')
      this.#patience = setTimeout(() => this.feed(), leftMs);
  }

  #open(): Lane {
    const { curl, protocol, onFault, onOpened, onActed } = this.#settings;
    const lane: Lane = new Lane({
      curl,
      protocol,
      onFault,
      onActed: () => {
        this.#takeBack(lane.turnedBack());
        this.#takeBack(lane.stranded());
        this.feed();
        onActed(lane);
      },
      onEnd: (entry, code) => this.#onEnd(lane, entry, code),
      onRoom: () => this.feed(),
    });
    this.#lanes.add(lane);
    onOpened(lane);
    return lane;
  }

  #takeBack(entries: Entry[]): void {
    for (const { transfer } of entries) this.#laneOf.delete(transfer);
    this.#queue.unshift(...entries);
  }

  #left(lane: Lane, transfer: ExchangeTransfer): void {
    this.#laneOf.delete(transfer);
    this.#takeBack(lane.stranded());
    if (lane.isEmpty)
      lane.whenIdle(this.#settings.fresh || lane.isBroken ? 0 : IDLE_MS, () => this.#close(lane));
  }

  #onEnd(lane: Lane, entry: Entry, code: number): void {
    const { transfer } = entry;
    const noConnection = code !== CODE.OK && !transfer.connected;
    const words = code === CODE.OK ? '' : transfer.words;
    this.#left(lane, transfer);
    entry.done(code);
    // Where libcurl cannot go on reading, it leaves the others of the connection to themselves.
    if (lane.isBroken && words !== '') {
      for (const other of lane.transfers) if (other.connected) lane.giveUp(other, code);
    }
    if (!noConnection || [...this.#lanes].some(({ carries }) => carries)) return;
    // They have waited for the connection that has not come about.
    for (const waiting of this.#queue.splice(0)) waiting.done(code, words);
  }

  #close(lane: Lane): void {
    this.#lanes.delete(lane);
    lane.close();
    this.#settings.onClosed(lane);
  }
}
