/** The engine's side of the exchange pipe: starts, feeds and ends exchanges. */
import type { Duplex } from 'node:stream';
import { CODE } from '../curl/curl-constants.ts';
import type { Libcurl } from '../curl/libcurl.ts';
import { nativeMemory } from '../curl/native-memory.ts';
import { CreditPool } from './credit-pool.ts';
import { EasyHandles } from './easy-handles.ts';
import type { ExchangeFault } from './exchange-fault.ts';
import { creditOf, ExchangeFrameError, FRAME, type FrameHandler, FrameReader } from './exchange-frames.ts';
import type { ExchangeOrder, NotedOrder } from './exchange-order.ts';
import { type ExchangeTools, ExchangeTransfer } from './exchange-transfer.ts';
import { FrameWriter } from './frame-writer.ts';
import { keepAliveWithin } from './hung-connections.ts';
import { Lanes } from './upstream-connections.ts';

export interface ExchangeServerOptions {
  curl: Libcurl;
  caFile: string;
  /** How long the peer of a TCP connection may acknowledge nothing. */
  hungAfterMs: number;
  pipe: Duplex;
  /** Not in the order of the frames: what has been sent is known to the host even if this process dies in the same moment. */
  noteSent: (place: number, exchange: number) => void;
  onFault: (fault: Error) => void;
}

export class ExchangeServer implements FrameHandler {
  readonly #tools: ExchangeTools;
  readonly #lanes: Lanes;
  readonly #transfers = new Map<number, ExchangeTransfer>();
  readonly #uploads = new CreditPool();

  constructor({ curl, caFile, hungAfterMs, pipe, noteSent, onFault }: ExchangeServerOptions) {
    const memory = nativeMemory();
    const keepAlive = keepAliveWithin(hungAfterMs);
    const output = new FrameWriter(pipe, memory);
    this.#lanes = new Lanes({
      curl,
      hungAfterMs,
      onFault,
      // A response is on its way as soon as it is here, not after all else of this turn.
      onActed: () => output.flush(),
    });
    this.#tools = {
      curl,
      handles: new EasyHandles({ curl, caFile, keepAlive, memory, onFault }),
      memory,
      output,
      noteSent,
      runDue: (transfer) => this.#lanes.runDue(transfer),
    };
    const reader = new FrameReader(this);
    pipe.on('error', onFault);
    pipe.on('data', (chunk: Buffer) => {
      try {
        reader.push(chunk);
        this.#lanes.runAsked();
      } catch (fault) {
        onFault(fault as Error);
      }
    });
  }

  onFrame(kind: number, exchange: number, payload: Buffer): void {
    if (kind === FRAME.REQUEST) {
      this.#start(exchange, JSON.parse(payload.toString()) as NotedOrder);
      return;
    }
    const transfer = this.#transfers.get(exchange);
    // What crosses an exchange's end on its way is late, not wrong.
    if (!transfer) return;
    if (kind === FRAME.CANCEL) this.#forget(transfer);
    else if (kind === FRAME.END) this.#went(transfer, transfer.uploadEnd());
    else if (kind === FRAME.CREDIT) {
      this.#went(transfer, transfer.addCredit(creditOf(payload)));
      this.#lanes.resumed(transfer);
    } else throw new ExchangeFrameError(`a frame of kind ${kind} from the host`);
  }

  onBody(exchange: number, piece: Buffer): void {
    const transfer = this.#transfers.get(exchange);
    if (transfer) this.#went(transfer, transfer.uploadPiece(piece));
  }

  #start(id: number, order: NotedOrder): void {
    if (this.#transfers.has(id)) throw new ExchangeFrameError(`exchange ${id} twice`);
    let transfer: ExchangeTransfer | null = null;
    try {
      transfer = new ExchangeTransfer(id, order, this.#uploads.account(), this.#tools);
      this.#transfers.set(id, transfer);
      const started = transfer;
      const wish = { protocol: order.protocol, origin: connectionsFor(order), fresh: order.fresh };
      this.#lanes.add(wish, started, (code, words) => {
        started.end(code, words);
        this.#forget(started);
      });
    } catch (fault) {
      this.#transfers.delete(id);
      transfer?.free();
      this.#tools.output.json(FRAME.FAULT, id, refusal((fault as Error).message));
    }
  }

  /** libcurl may fail as it goes on with what was held up. */
  #went(transfer: ExchangeTransfer, well: boolean): void {
    if (well || !this.#transfers.has(transfer.id)) return;
    transfer.end(CODE.WRITE_ERROR);
    this.#forget(transfer);
  }

  #forget(transfer: ExchangeTransfer): void {
    this.#transfers.delete(transfer.id);
    this.#lanes.remove(transfer);
    transfer.free();
  }
}

/**
 * Which connections an exchange shares. On HTTP/3 large uploads have their own: libcurl 8.14 gives up
 * the whole connection when one is cancelled.
 */
function connectionsFor({ protocol, origin, body, connectTo }: ExchangeOrder): string {
  const large = body === 'unknown' || (body !== 'none' && body > SMALL_UPLOAD_BYTES);
  return `${origin} ${connectTo}${protocol === 'h3' && large ? ' uploads' : ''}`;
}

/** Taken by libcurl and sent at once, mostly: there is next to no time to cancel it. */
const SMALL_UPLOAD_BYTES = 64 * 1024;

function refusal(message: string): ExchangeFault {
  return { code: 'refused-locally', message, sent: false };
}
