/** The engine's side of the exchange pipe: starts, feeds and ends exchanges. */
import type { Duplex } from 'node:stream';
import { CODE } from '../curl/curl-constants.ts';
import type { NameChecks } from '../curl/easy-options.ts';
import type { Libcurl } from '../curl/libcurl.ts';
import { nativeMemory } from '../curl/native-memory.ts';
import type { TcpInfo } from '../curl/tcp-info.ts';
import { CreditPool } from './credit-pool.ts';
import { EasyHandles } from './easy-handles.ts';
import { ExchangeConnections } from './exchange-connections.ts';
import type { ExchangeFault } from './exchange-fault.ts';
import { ExchangeMeter } from './exchange-figures.ts';
import { creditOf, ExchangeFrameError, FRAME, type FrameHandler, FrameReader } from './exchange-frames.ts';
import type { ExchangeOrder, MarkedOrder, ReleaseOrder } from './exchange-order.ts';
import { type ExchangeTools, ExchangeTransfer } from './exchange-transfer.ts';
import { FrameBatch } from './frame-batch.ts';
import { keepAliveWithin } from './hung-connections.ts';

interface ExchangeServerOptions {
  curl: Libcurl;
  names: NameChecks;
  /** How long the peer of a TCP connection may acknowledge nothing. */
  hungAfterMs: number;
  pipe: Duplex;
  /** Does not go through the pipe: the host knows what was sent even if this process crashes at once. */
  markSent: (slot: number, exchange: number) => void;
  /** Null for a socket that is not TCP. */
  readTcpInfo: (socket: number) => TcpInfo | null;
  onFault: (fault: Error) => void;
}

export class ExchangeServer implements FrameHandler {
  readonly #tools: ExchangeTools;
  readonly #connections: ExchangeConnections;
  readonly #transfers = new Map<number, ExchangeTransfer>();
  readonly #uploads = new CreditPool();

  constructor({ curl, names, hungAfterMs, pipe, markSent, readTcpInfo, onFault }: ExchangeServerOptions) {
    const memory = nativeMemory();
    const keepAlive = keepAliveWithin(hungAfterMs);
    const output = new FrameBatch(pipe, memory);
    this.#connections = new ExchangeConnections({
      curl,
      hungAfterMs,
      onFault,
      // A response goes on as soon as it has arrived, not after everything else of this turn.
      onActed: () => output.flush(),
    });
    this.#tools = {
      curl,
      handles: new EasyHandles({ curl, names, keepAlive, memory, onFault }),
      memory,
      output,
      markSent,
      meter: new ExchangeMeter(curl, readTcpInfo),
      runDue: (transfer) => this.#connections.runDue(transfer),
    };
    const reader = new FrameReader(this);
    pipe.on('error', onFault);
    pipe.on('data', (chunk: Buffer) => {
      try {
        reader.push(chunk);
        this.#connections.runDeferred();
      } catch (fault) {
        onFault(fault as Error);
      }
    });
  }

  onFrame(kind: number, exchange: number, payload: Buffer): void {
    if (kind === FRAME.REQUEST) {
      this.#start(exchange, JSON.parse(payload.toString()) as MarkedOrder);
      return;
    }
    if (kind === FRAME.RELEASE) {
      this.#connections.release(JSON.parse(payload.toString()) as ReleaseOrder);
      return;
    }
    const transfer = this.#transfers.get(exchange);
    // A frame that was sent before the host learned of the exchange's end is late, not wrong.
    if (!transfer) return;
    if (kind === FRAME.CANCEL) this.#forget(transfer);
    else if (kind === FRAME.END) this.#checkResumed(transfer, transfer.endUpload());
    else if (kind === FRAME.CREDIT) {
      this.#checkResumed(transfer, transfer.addCredit(creditOf(payload)));
      this.#connections.onReaderProgress(transfer);
    } else throw new ExchangeFrameError(`a frame of kind ${kind} from the host`);
  }

  onBody(exchange: number, piece: Buffer): void {
    const transfer = this.#transfers.get(exchange);
    if (transfer) this.#checkResumed(transfer, transfer.uploadPiece(piece));
  }

  #start(id: number, order: MarkedOrder): void {
    if (this.#transfers.has(id)) throw new ExchangeFrameError(`exchange ${id} twice`);
    let transfer: ExchangeTransfer | null = null;
    try {
      transfer = new ExchangeTransfer(id, order, this.#uploads.account(), this.#tools);
      this.#transfers.set(id, transfer);
      const started = transfer;
      const { protocol, fresh, partition } = order;
      const requirements = { protocol, fresh, partition, origin: connectionsFor(order) };
      this.#connections.add(requirements, started, (code, message) => {
        started.end(code, message);
        this.#forget(started);
      });
    } catch (fault) {
      this.#transfers.delete(id);
      transfer?.free();
      this.#tools.output.addJson(FRAME.FAULT, id, refusal((fault as Error).message));
    }
  }

  /** libcurl may fail when it resumes a transfer. */
  #checkResumed(transfer: ExchangeTransfer, well: boolean): void {
    if (well || !this.#transfers.has(transfer.id)) return;
    transfer.end(CODE.WRITE_ERROR);
    this.#forget(transfer);
  }

  #forget(transfer: ExchangeTransfer): void {
    this.#transfers.delete(transfer.id);
    this.#connections.remove(transfer);
    transfer.free();
  }
}

/**
 * The key of the connections that an exchange may share: those to addresses that it may reach. On HTTP/3 large uploads have their own: libcurl 8.14 closes the whole
 * connection when one is cancelled.
 */
function connectionsFor({ protocol, origin, body, connectTo, from }: ExchangeOrder): string {
  const large = body === 'unknown' || (body !== 'none' && body > SMALL_UPLOAD_BYTES);
  return `${origin} ${connectTo} ${from}${protocol === 'h3' && large ? ' uploads' : ''}`;
}

/** libcurl mostly takes and sends so much at once: it is hardly ever cancelled. */
const SMALL_UPLOAD_BYTES = 64 * 1024;

function refusal(message: string): ExchangeFault {
  return { code: 'refused-locally', message, sent: false, phase: 'waiting' };
}
