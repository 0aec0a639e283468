/** The host's side of the exchange pipe. */
import type { Duplex } from 'node:stream';
import type { ExchangeFault } from './exchange-fault.ts';
import type { ExchangeEnd } from './exchange-figures.ts';
import {
  creditOf,
  creditPayload,
  ExchangeFrameError,
  encodeFrame,
  FRAME,
  FRAME_HEADER_BYTES,
  type FrameHandler,
  FrameReader,
  jsonPayload,
  writeFrameHeader,
} from './exchange-frames.ts';
import type { MarkedOrder, ReleaseOrder } from './exchange-order.ts';
import type { ResponseSection } from './response-sections.ts';
import type { ExchangeOutput, RunningExchange } from './running-exchange.ts';
import type { SentMarks } from './sent-marks.ts';

/** An exchange and its slot among the sent marks. */
interface OpenExchange {
  exchange: RunningExchange;
  slot: number;
}

/** The exchanges of one engine process. */
export class ExchangeClient implements FrameHandler {
  readonly #pipe: Duplex;
  readonly #marks: SentMarks;
  readonly #onGarbage: (fault: Error) => void;
  readonly #exchanges = new Map<number, OpenExchange>();
  #nextId = 1;
  #over = false;

  /** @param onGarbage called when the engine sends what is no valid frame: its process must be ended. */
  constructor(pipe: Duplex, marks: SentMarks, onGarbage: (fault: Error) => void) {
    this.#pipe = pipe;
    this.#marks = marks;
    this.#onGarbage = onGarbage;
    const frames = new FrameReader(this);
    pipe.on('data', (chunk: Buffer) => this.#read(() => frames.push(chunk)));
    // The process's exit reports the cause.
    pipe.on('error', () => {});
  }

  start(exchange: RunningExchange): void {
    if (this.#over) {
      exchange.fail('engine-died', 'the transfer engine has just ended', false);
      return;
    }
    const id = this.#nextId++;
    const slot = this.#marks.take();
    this.#exchanges.set(id, { exchange, slot });
    exchange.start(this.#output(id, slot));
    if (!exchange.open) this.#forget(id);
  }

  /** Has connections to an origin closed as soon as they are idle. */
  release(order: ReleaseOrder): void {
    if (!this.#over) this.#pipe.write(encodeFrame(FRAME.RELEASE, 0, jsonPayload(order)));
  }

  /** Called when the process has ended, and all of its output has been read. */
  close(message: string): void {
    this.#over = true;
    const open = [...this.#exchanges.values()];
    this.#exchanges.clear();
    for (const { exchange } of open) exchange.fail('engine-died', message, exchange.sent);
    this.#marks.close();
  }

  /** @returns whether it was still open. */
  #forget(id: number): boolean {
    const found = this.#exchanges.get(id);
    if (!found) return false;
    this.#exchanges.delete(id);
    this.#marks.giveBack(found.slot);
    return true;
  }

  #output(id: number, slot: number): ExchangeOutput {
    const send = (kind: number, payload?: Uint8Array): void => {
      if (!this.#over) this.#pipe.write(encodeFrame(kind, id, payload));
    };
    return {
      request: (order) => send(FRAME.REQUEST, jsonPayload({ ...order, slot } satisfies MarkedOrder)),
      isMarkedSent: () => this.#marks.has(slot, id),
      end: () => send(FRAME.END),
      credit: (bytes) => send(FRAME.CREDIT, creditPayload(bytes)),
      cancel: () => {
        if (this.#forget(id)) send(FRAME.CANCEL);
      },
      body: (piece) => {
        if (this.#over) return;
        const header = Buffer.allocUnsafe(FRAME_HEADER_BYTES);
        writeFrameHeader(header, 0, FRAME.BODY, id, piece.length);
        this.#pipe.cork();
        this.#pipe.write(header);
        this.#pipe.write(piece);
        this.#pipe.uncork();
      },
    };
  }

  #read(take: () => void): void {
    if (this.#over) return;
    try {
      take();
    } catch (fault) {
      this.#over = true;
      this.#onGarbage(fault as Error);
    }
  }

  onFrame(kind: number, id: number, payload: Buffer): void {
    const exchange = this.#exchanges.get(id)?.exchange;
    // It was cancelled meanwhile.
    if (!exchange) return;
    switch (kind) {
      case FRAME.INFORMATIONAL:
        exchange.onInformationalSection(parse(payload) as ResponseSection);
        break;
      case FRAME.HEAD:
        exchange.onHead(parse(payload) as ResponseSection);
        break;
      case FRAME.SILENT:
      case FRAME.HEARD:
        exchange.onSilence(kind === FRAME.SILENT);
        break;
      case FRAME.CREDIT:
        exchange.onUploadCredit(creditOf(payload));
        break;
      case FRAME.END:
        this.#forget(id);
        exchange.onEnd(parse(payload) as ExchangeEnd);
        break;
      case FRAME.FAULT: {
        this.#forget(id);
        const { code, message, sent, phase } = parse(payload) as ExchangeFault;
        exchange.fail(code, message, sent, phase);
        break;
      }
      default:
        throw new ExchangeFrameError(`a frame of kind ${kind} from the engine`);
    }
  }

  onBody(id: number, piece: Buffer): void {
    this.#exchanges.get(id)?.exchange.onBody(piece);
  }
}

/** @throws ExchangeFrameError */
function parse(payload: Buffer): unknown {
  try {
    return JSON.parse(payload.toString());
  } catch {
    throw new ExchangeFrameError('a frame that holds no JSON');
  }
}
