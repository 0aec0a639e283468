/** The host's side of the exchange pipe. */
import type { Duplex } from 'node:stream';
import type { ExchangeFault } from './exchange-fault.ts';
import {
  creditOf,
  creditPayload,
  ExchangeFrameError,
  FRAME,
  FRAME_HEADER_BYTES,
  type FrameHandler,
  FrameReader,
  frame,
  jsonPayload,
  writeFrameHeader,
} from './exchange-frames.ts';
import type { NotedOrder } from './exchange-order.ts';
import type { HeaderField } from './headers.ts';
import type { ResponseSection } from './response-sections.ts';
import type { ExchangeOutput, RunningExchange } from './running-exchange.ts';
import type { SentNotes } from './sent-notes.ts';

/** An exchange and its place among the notes. */
interface Noted {
  exchange: RunningExchange;
  place: number;
}

/** The exchanges of one engine process. */
export class ExchangeClient implements FrameHandler {
  readonly #pipe: Duplex;
  readonly #notes: SentNotes;
  readonly #onGarbage: (fault: Error) => void;
  readonly #exchanges = new Map<number, Noted>();
  #nextId = 1;
  #over = false;

  /** @param onGarbage the engine says what cannot be understood: it must be ended. */
  constructor(pipe: Duplex, notes: SentNotes, onGarbage: (fault: Error) => void) {
    this.#pipe = pipe;
    this.#notes = notes;
    this.#onGarbage = onGarbage;
    const frames = new FrameReader(this);
    pipe.on('data', (chunk: Buffer) => this.#read(() => frames.push(chunk)));
    // The process's own end tells what there is to tell.
    pipe.on('error', () => {});
  }

  start(exchange: RunningExchange): void {
    if (this.#over) {
      exchange.fail('engine-died', 'the transfer engine has just ended', false);
      return;
    }
    const id = this.#nextId++;
    const place = this.#notes.take();
    this.#exchanges.set(id, { exchange, place });
    exchange.start(this.#output(id, place));
    if (!exchange.open) this.#forget(id);
  }

  /** The process has ended, and what it had written has been read. */
  close(message: string): void {
    this.#over = true;
    const open = [...this.#exchanges.values()];
    this.#exchanges.clear();
    for (const { exchange } of open) exchange.fail('engine-died', message, exchange.sent);
    this.#notes.close();
  }

  /** @returns whether it was there still. */
  #forget(id: number): boolean {
    const noted = this.#exchanges.get(id);
    if (!noted) return false;
    this.#exchanges.delete(id);
    this.#notes.giveBack(noted.place);
    return true;
  }

  #output(id: number, place: number): ExchangeOutput {
    const send = (kind: number, payload?: Uint8Array): void => {
      if (!this.#over) this.#pipe.write(frame(kind, id, payload));
    };
    return {
      request: (order) => send(FRAME.REQUEST, jsonPayload({ ...order, note: place } satisfies NotedOrder)),
      isNoted: () => this.#notes.has(place, id),
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
    // What was cancelled meanwhile.
    if (!exchange) return;
    switch (kind) {
      case FRAME.INFORMATIONAL:
        exchange.onInformationalSection(parse(payload) as ResponseSection);
        break;
      case FRAME.HEAD:
        exchange.onHead(parse(payload) as ResponseSection);
        break;
      case FRAME.CREDIT:
        exchange.onUploadCredit(creditOf(payload));
        break;
      case FRAME.END:
        this.#forget(id);
        exchange.onEnd(parse(payload) as HeaderField[]);
        break;
      case FRAME.FAULT: {
        this.#forget(id);
        const { code, message, sent } = parse(payload) as ExchangeFault;
        exchange.fail(code, message, sent);
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
