/** The connections of all exchanges, and how much libcurl may hold on them. */
import type { Protocol } from '@hopwise/contract';
import { CODE } from '../curl/curl-constants.ts';
import type { Libcurl } from '../curl/libcurl.ts';
import { tcpSilenceReader } from '../curl/tcp-info.ts';
import { tcpResetter } from '../curl/tcp-reset.ts';
import type { ExchangeTransfer } from './exchange-transfer.ts';
import { HungConnections } from './hung-connections.ts';
import { OriginLanes } from './origin-connections.ts';
import { type Entry, HELD_OF_GOOD_LANE_BYTES, type Lane } from './upstream-connection.ts';

/** Beyond it the connection is no longer read. Above what HTTP/2 lets through, which bounds itself. */
const HELD_BYTES = 24 * 1024 * 1024;

/** Beyond it, in all, no connection is read whose lane is not good any more. */
const HELD_IN_ALL_BYTES = 64 * 1024 * 1024;

/**
 * How long other exchanges of a connection that is not read wait for the slowest reader. Then its
 * exchange is given up: a response that breaks off is seen, and asked for again, where one that stands
 * still is not.
 */
const STANDSTILL_MS = 20_000;

/**
 * Time between two times that such a connection is read all the same, while others wait: they get what is on its way already,
 * and libcurl some 100 kB more to hold.
 */
const SIP_MS = 20;

/** Time between two looks at what is held: 1.25 MB at 1 Gbit/s. */
const LOOK_MS = 10;

export interface LanesSettings {
  curl: Libcurl;
  /** How long the peer of a TCP connection may acknowledge nothing. */
  hungAfterMs: number;
  onFault: (fault: Error) => void;
  /** libcurl has done what there was to do on a connection. */
  onActed: () => void;
}

export interface LaneWish {
  protocol: Protocol;
  /** Exchanges of one share connections. */
  origin: string;
  /** A connection of its own, made for it and ended with it: with its own look at the name and the certificate. */
  fresh: boolean;
}

interface Watch {
  lanes: OriginLanes;
  lookedMs: number;
  /** They run while the connection is not read. */
  standstill: NodeJS.Timeout | null;
  sips: NodeJS.Timeout | null;
}

export class Lanes {
  readonly #curl: Libcurl;
  readonly #onFault: (fault: Error) => void;
  readonly #onActed: () => void;
  readonly #origins = new Map<string, OriginLanes>();
  readonly #originOf = new Map<ExchangeTransfer, OriginLanes>();
  readonly #watched = new Map<Lane, Watch>();
  readonly #hung: HungConnections;
  #freshOnes = 0;

  constructor({ curl, hungAfterMs, onFault, onActed }: LanesSettings) {
    this.#curl = curl;
    this.#onFault = onFault;
    this.#onActed = onActed;
    this.#hung = new HungConnections({
      limitMs: hungAfterMs,
      sockets: () => this.#sockets(),
      read: tcpSilenceReader(),
      reset: tcpResetter(),
    });
  }

  /** @param done its end, as `Entry.done`. */
  add({ protocol, origin, fresh }: LaneWish, transfer: ExchangeTransfer, done: Entry['done']): void {
    const key = `${protocol} ${origin}${fresh ? ` ${this.#freshOnes++}` : ''}`;
    let lanes = this.#origins.get(key);
    if (!lanes) {
      lanes = this.#lanesOf(key, protocol, fresh);
      this.#origins.set(key, lanes);
    }
    this.#originOf.set(transfer, lanes);
    this.#hung.watch();
    lanes.add({
      transfer,
      sinceMs: performance.now(),
      done: (code, words) => {
        this.#originOf.delete(transfer);
        done(code, words);
      },
    });
  }

  remove(transfer: ExchangeTransfer): void {
    const lanes = this.#originOf.get(transfer);
    if (!lanes) return;
    const lane = lanes.laneOf(transfer);
    this.#originOf.delete(transfer);
    lanes.remove(transfer);
    if (lane && lane.held.bytes > 0) this.#look(lane);
  }

  /** Never from a callback of libcurl. */
  runDue(transfer: ExchangeTransfer): void {
    this.#originOf.get(transfer)?.laneOf(transfer)?.runDue();
  }

  /** Has libcurl begin what was added, now. Never from a callback of libcurl. */
  runAsked(): void {
    for (const lane of this.#watched.keys()) lane.runAsked();
  }

  /** A reader has taken something. */
  resumed(transfer: ExchangeTransfer): void {
    const lane = this.#originOf.get(transfer)?.laneOf(transfer);
    if (lane && lane.held.bytes > 0) this.#look(lane);
  }

  #sockets(): number[] | null {
    if (this.#originOf.size === 0) return null;
    return [...this.#watched.keys()].flatMap((lane) => lane.sockets);
  }

  #lanesOf(key: string, protocol: Protocol, fresh: boolean): OriginLanes {
    const lanes = new OriginLanes({
      curl: this.#curl,
      protocol,
      fresh,
      onFault: this.#onFault,
      onOpened: (lane) => this.#watched.set(lane, { lanes, lookedMs: 0, standstill: null, sips: null }),
      onActed: (lane) => this.#lookAndTell(lane),
      onClosed: (lane) => {
        this.#stopWaiting(lane);
        this.#watched.delete(lane);
        if (lanes.isEmpty) this.#origins.delete(key);
      },
    });
    return lanes;
  }

  #lookAndTell(lane: Lane): void {
    const lookedMs = this.#watched.get(lane)?.lookedMs;
    if (lookedMs !== undefined && performance.now() - lookedMs >= LOOK_MS) this.#look(lane);
    this.#onActed();
  }

  #look(lane: Lane): void {
    const watch = this.#watched.get(lane);
    if (!watch) return;
    watch.lookedMs = performance.now();
    const held = lane.transfers.map((transfer) => transfer.heldBytes());
    lane.held = { mostBytes: Math.max(0, ...held), bytes: held.reduce((sum, bytes) => sum + bytes, 0) };
    const all = [...this.#watched.keys()];
    const inAll = all.reduce((sum, { held: { bytes } }) => sum + bytes, 0);
    const limit = inAll > HELD_IN_ALL_BYTES ? HELD_OF_GOOD_LANE_BYTES : HELD_BYTES;
    for (const other of all) this.#setReading(other, other.held.mostBytes <= limit);
    if (lane.isGood) watch.lanes.feed();
  }

  #setReading(lane: Lane, reading: boolean): void {
    lane.setReading(reading);
    const watch = this.#watched.get(lane)!;
    if (reading) this.#stopWaiting(lane);
    else {
      watch.standstill ??= setTimeout(() => this.#onStandstill(lane), STANDSTILL_MS);
      watch.sips ??= setInterval(() => {
        if (!nobodyWaits(lane)) lane.readOnce();
      }, SIP_MS);
    }
  }

  #stopWaiting(lane: Lane): void {
    const watch = this.#watched.get(lane);
    if (!watch) return;
    if (watch.standstill) clearTimeout(watch.standstill);
    if (watch.sips) clearInterval(watch.sips);
    watch.standstill = null;
    watch.sips = null;
  }

  #onStandstill(lane: Lane): void {
    this.#stopWaiting(lane);
    if (!nobodyWaits(lane)) {
      const slowest = lane.transfers.reduce((slow, transfer) =>
        transfer.heldBytes() > slow.heldBytes() ? transfer : slow,
      );
      lane.giveUp(slowest, CODE.TOO_LARGE);
    }
    this.#look(lane);
  }
}

function nobodyWaits({ transfers }: Lane): boolean {
  return transfers.every((transfer) => transfer.heldBytes() > 0);
}
