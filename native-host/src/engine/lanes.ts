/** The connections of exchanges: which multi handle carries which. */
import type { Protocol } from '@hopwise/native-host/messages';
import { CODE } from './curl-constants.ts';
import type { ExchangeTransfer } from './exchange-transfer.ts';
import type { Libcurl } from './libcurl.ts';
import { MultiHandle } from './multi-handle.ts';

/**
 * What libcurl may hold of one response that waits for its reader before the connection gets no
 * further exchange. libcurl 8.14 acknowledges what it holds on HTTP/3, and so takes more without
 * end whenever another exchange makes it read the connection; on HTTP/2 it takes 20 MiB.
 */
const HELD_OF_GOOD_LANE_BYTES = 1024 * 1024;

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

/** Time between two looks at what is held: 1.25 MB at 1 Gbit/s. */
const LOOK_MS = 10;

/** Connections of HTTP/2 and HTTP/3 to an origin at most. */
const LANES_PER_ORIGIN = 4;

/** As long as libcurl itself keeps an idle connection (`CURLOPT_MAXAGE_CONN`). */
const IDLE_MS = 118_000;

interface Lane {
  key: string;
  multi: MultiHandle;
  transfers: Set<ExchangeTransfer>;
  /** What libcurl holds for the slowest reader, and for all of them. */
  held: { mostBytes: number; bytes: number };
  lookedMs: number;
  idle: NodeJS.Timeout | null;
  /** Runs while the connection is not read. */
  standstill: NodeJS.Timeout | null;
}

/**
 * A multi handle for each origin and protocol, kept over exchanges; a second one where a slow reader
 * fills the first one's connection.
 */
export class Lanes {
  readonly #curl: Libcurl;
  readonly #onFault: (fault: Error) => void;
  readonly #lanes = new Map<string, Lane[]>();
  readonly #laneOf = new Map<ExchangeTransfer, Lane>();
  readonly #done = new Map<ExchangeTransfer, (code: number) => void>();

  constructor(curl: Libcurl, onFault: (fault: Error) => void) {
    this.#curl = curl;
    this.#onFault = onFault;
  }

  /**
   * @param origin exchanges of one share connections.
   * @throws Error when libcurl refuses the transfer.
   */
  add(protocol: Protocol, origin: string, transfer: ExchangeTransfer, done: (code: number) => void): void {
    const lane = this.#pick(protocol, origin);
    lane.multi.add(transfer.easy, (code) => this.#end(lane, transfer, code));
    this.#done.set(transfer, done);
    if (lane.idle) clearTimeout(lane.idle);
    lane.idle = null;
    lane.transfers.add(transfer);
    this.#laneOf.set(transfer, lane);
  }

  remove(transfer: ExchangeTransfer): void {
    const lane = this.#laneOf.get(transfer);
    if (!lane) return;
    lane.multi.remove(transfer.easy);
    this.#leave(lane, transfer);
  }

  /** Never from a callback of libcurl. */
  runDue(transfer: ExchangeTransfer): void {
    this.#laneOf.get(transfer)?.multi.runDue();
  }

  /** A reader has taken something. */
  resumed(transfer: ExchangeTransfer): void {
    const lane = this.#laneOf.get(transfer);
    if (lane && lane.held.bytes > 0) this.#look(lane);
  }

  #pick(protocol: Protocol, origin: string): Lane {
    const key = `${protocol} ${origin}`;
    let lanes = this.#lanes.get(key);
    if (!lanes) {
      lanes = [];
      this.#lanes.set(key, lanes);
    }
    // HTTP/1.1 has a connection for each exchange: none is in another's way.
    const good = lanes.find(({ held }) => protocol === 'h1' || held.mostBytes <= HELD_OF_GOOD_LANE_BYTES);
    if (good) return good;
    if (lanes.length >= LANES_PER_ORIGIN) {
      return lanes.reduce((least, lane) => (lane.held.bytes < least.held.bytes ? lane : least));
    }
    const lane: Lane = {
      key,
      multi: new MultiHandle({
        curl: this.#curl,
        protocol,
        onFault: this.#onFault,
        onActed: protocol === 'h1' ? undefined : () => this.#onActed(lane),
      }),
      transfers: new Set(),
      held: { mostBytes: 0, bytes: 0 },
      lookedMs: 0,
      idle: null,
      standstill: null,
    };
    lanes.push(lane);
    return lane;
  }

  #end(lane: Lane, transfer: ExchangeTransfer, code: number): void {
    const done = this.#done.get(transfer);
    this.#leave(lane, transfer);
    done?.(code);
  }

  #leave(lane: Lane, transfer: ExchangeTransfer): void {
    lane.transfers.delete(transfer);
    this.#laneOf.delete(transfer);
    this.#done.delete(transfer);
    if (lane.held.bytes > 0) this.#look(lane);
    if (lane.transfers.size === 0) {
      lane.idle = setTimeout(() => this.#close(lane), IDLE_MS);
    }
  }

  #close(lane: Lane): void {
    const others = this.#lanes.get(lane.key)!.filter((other) => other !== lane);
    if (others.length > 0) this.#lanes.set(lane.key, others);
    else this.#lanes.delete(lane.key);
    if (lane.standstill) clearTimeout(lane.standstill);
    lane.multi.close();
  }

  #onActed(lane: Lane): void {
    if (performance.now() - lane.lookedMs >= LOOK_MS) this.#look(lane);
  }

  #look(lane: Lane): void {
    lane.lookedMs = performance.now();
    const held = Array.from(lane.transfers, (transfer) => transfer.heldBytes());
    lane.held = { mostBytes: Math.max(0, ...held), bytes: held.reduce((sum, bytes) => sum + bytes, 0) };
    const all = [...this.#lanes.values()].flat();
    const inAll = all.reduce((sum, { held: { bytes } }) => sum + bytes, 0);
    const limit = inAll > HELD_IN_ALL_BYTES ? HELD_OF_GOOD_LANE_BYTES : HELD_BYTES;
    for (const other of all) this.#setReading(other, other.held.mostBytes <= limit);
  }

  #setReading(lane: Lane, reading: boolean): void {
    lane.multi.setReading(reading);
    if (reading && lane.standstill) {
      clearTimeout(lane.standstill);
      lane.standstill = null;
    } else if (!reading) lane.standstill ??= setTimeout(() => this.#onStandstill(lane), STANDSTILL_MS);
  }

  #onStandstill(lane: Lane): void {
    lane.standstill = null;
    const slowest = [...lane.transfers].reduce((slow, transfer) =>
      transfer.heldBytes() > slow.heldBytes() ? transfer : slow,
    );
    const nobodyWaits = [...lane.transfers].every((transfer) => transfer.heldBytes() > 0);
    if (!nobodyWaits) {
      lane.multi.remove(slowest.easy);
      this.#end(lane, slowest, CODE.TOO_LARGE);
    }
    this.#look(lane);
  }
}
