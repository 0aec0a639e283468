/** The host's side of the exchange pipe. */
import type { Duplex, Readable } from 'node:stream';
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
import type { HeaderField } from './headers.ts';
import type { ResponseSection } from './response-sections.ts';
import type { ExchangeOutput, RunningExchange } from './running-exchange.ts';

/** The exchanges of one engine process. */
export class ExchangeClient implements FrameHandler {
  readonly #pipe: Duplex;
  readonly #onGarbage: (fault: Error) => void;
  readonly #exchanges = new Map<number, RunningExchange>();
  #nextId = 1;
  #over = false;

  /** @param onGarbage the engine says what cannot be understood: it must be ended. */
  constructor(pipe: Duplex, sentNotes: Readable, onGarbage: (fault: Error) => void) {
    this.#pipe = pipe;
    this.#onGarbage = onGarbage;
    const frames = new FrameReader(this);
    pipe.on('data', (chunk: Buffer) => this.#read(() => frames.push(chunk)));
    let rest: Buffer = Buffer.alloc(0);
    sentNotes.on('data', (chunk: Buffer) => {
      rest = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
      const whole = rest.length - (rest.length % 4);
      for (let at = 0; at < whole; at += 4) this.#exchanges.get(rest.readUInt32LE(at))?.onSent();
      rest = rest.subarray(whole);
    });
    // The process's own end tells what there is to tell.
    pipe.on('error', () => {});
    sentNotes.on('error', () => {});
  }

  start(exchange: RunningExchange): void {
    if (this.#over) {
      exchange.fail('engine-died', 'the transfer engine has just ended', false);
      return;
    }
    const id = this.#nextId++;
    this.#exchanges.set(id, exchange);
    exchange.start(this.#output(id));
    if (!exchange.open) this.#exchanges.delete(id);
  }

  /** The process has ended, and what it had written has been read. */
  close(message: string): void {
    this.#over = true;
    const open = [...this.#exchanges.values()];
    this.#exchanges.clear();
    for (const exchange of open) exchange.fail('engine-died', message, exchange.sent);
  }

  #output(id: number): ExchangeOutput {
    const send = (kind: number, payload?: Uint8Array): void => {
      if (!this.#over) this.#pipe.write(frame(kind, id, payload));
    };
    return {
      request: (order) => send(FRAME.REQUEST, jsonPayload(order)),
      end: () => send(FRAME.END),
      credit: (bytes) => send(FRAME.CREDIT, creditPayload(bytes)),
      cancel: () => {
        if (this.#exchanges.delete(id)) send(FRAME.CANCEL);
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
    const exchange = this.#exchanges.get(id);
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
        this.#exchanges.delete(id);
        exchange.onEnd(parse(payload) as HeaderField[]);
        break;
      case FRAME.FAULT: {
        this.#exchanges.delete(id);
        const { code, message, sent } = parse(payload) as ExchangeFault;
        exchange.fail(code, message, sent);
        break;
      }
      default:
        throw new ExchangeFrameError(`a frame of kind ${kind} from the engine`);
    }
  }

  onBody(id: number, piece: Buffer): void {
    this.#exchanges.get(id)?.onBody(piece);
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
