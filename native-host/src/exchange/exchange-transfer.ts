/** The engine's side of one exchange: answers libcurl's callbacks. */

import { CODE, INFO, OPT, PAUSE, PREREQ, READ_PAUSE, SEEK, WRITE_PAUSE } from '../curl/curl-constants.ts';
import { CONNECT_TIMEOUT_MS, reportedProtocol } from '../curl/easy-options.ts';
import { describesCode } from '../curl/error-words.ts';
import type { Libcurl, Pointer } from '../curl/libcurl.ts';
import type { NativeMemory } from '../curl/native-memory.ts';
import type { CreditAccount } from './credit-pool.ts';
import type { EasyHandle, EasyHandleListener, EasyHandles } from './easy-handles.ts';
import { type ExchangeFault, errorCode } from './exchange-fault.ts';
import type { ExchangeEnd, ExchangeFigures, ExchangeMeter } from './exchange-figures.ts';
import { creditPayload, ExchangeFrameError, FRAME } from './exchange-frames.ts';
import { hasBody, IDEMPOTENT, type MarkedOrder } from './exchange-order.ts';
import type { FrameBatch } from './frame-batch.ts';
import { endToEnd, type HeaderField, responseFields } from './headers.ts';
import { RequestUpload } from './request-upload.ts';
import { ResponseSections } from './response-sections.ts';

export interface ExchangeTools {
  curl: Libcurl;
  handles: EasyHandles;
  memory: NativeMemory;
  output: FrameBatch;
  /** Marks the request as sent, before its first byte goes out. */
  markSent: (slot: number, exchange: number) => void;
  meter: ExchangeMeter;
  /** Has libcurl run its due timers now. */
  runDue: (transfer: ExchangeTransfer) => void;
}

/** For the wait for a stream of an open connection, which libcurl counts as time to connect: three weeks. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * libcurl 8.14's trace of a request that the origin has not processed, whatever its method (RFC 9113 section 8.7, RFC 9114
 * sections 4.1.1 and 5.2): refused on its stream, or above the last stream of a GOAWAY, which nghttp2 reports alike;
 * over HTTP/3 rejected (267, H3_REQUEST_REJECTED). libcurl reports it in its trace only.
 */
const NOT_PROCESSED = { h1: null, h2: /\] REFUSED_STREAM\b/, h3: /\] RESET: error 267\b/ } as const;

/** libcurl 8.14's trace of the SETTINGS of an HTTP/2 connection: the number of streams, -1 for any. */
const STREAM_LIMIT = /\bMAX_CONCURRENT_STREAMS: (-?\d+)/;

/** How far an exchange has got; shown in its errors. */
type TransferPhase =
  /** It waits for a connection, or for a stream of one. */
  | { name: 'waiting' }
  /** It has a connection, on which the request goes out. */
  | { name: 'sent' }
  /** A header line has arrived: nothing is sent again. */
  | { name: 'answering' }
  /** The response's header has gone to the host. */
  | { name: 'responding' }
  /** It was ended on this side, and libcurl has yet to end it. */
  | { name: 'refused'; fault: ExchangeFault }
  | { name: 'ended'; isWhole: boolean }
  | { name: 'freed' };

/** What the origin may have received of the request. */
type Delivery =
  | { state: 'unsent' }
  /** It went out, after a first attempt of `returnedBytes` that the origin has not processed. */
  | { state: 'sent'; returnedBytes: number }
  /** The origin has said that it has not processed what was sent so far. */
  | { state: 'returned' }
  /** It was sent on a connection on which nothing came back, and is sent again. */
  | { state: 'unanswered' };

export class ExchangeTransfer implements EasyHandleListener {
  readonly id: number;
  readonly #handle: EasyHandle;
  readonly #order: MarkedOrder;
  readonly #tools: ExchangeTools;
  readonly #sections = new ResponseSections();
  readonly #upload: RequestUpload;
  #phase: TransferPhase = { name: 'waiting' };
  #delivery: Delivery = { state: 'unsent' };
  /** Whether a connection attempt was permitted, and the refusal as long as none was. */
  #attempts: 'none' | 'permitted' | ExchangeFault = 'none';
  /** Paused directions, `PAUSE` bits. */
  #paused: number = PAUSE.NONE;
  /** Response bytes that may still be sent to the host; one piece of libcurl's can take it below zero. */
  #credit: number;
  #delivered = 0;
  /** When the request last went out, on the clock of `performance.now()`. */
  #sentAtMs = 0;
  /** Time from then to the first byte of the response, milliseconds; null before. */
  #firstByteMs: number | null = null;
  /** Whether the host knows that nothing comes back. */
  #isSilent = false;
  #onStreamLimit: ((streams: number) => void) | null = null;
  #figures: ExchangeFigures | null = null;

  /** @throws Error when libcurl refuses the request. */
  constructor(id: number, order: MarkedOrder, upload: CreditAccount, tools: ExchangeTools) {
    this.id = id;
    this.#order = order;
    this.#tools = tools;
    this.#credit = order.credit;
    this.#upload = new RequestUpload(upload, hasBody(order), (bytes) =>
      tools.output.add(FRAME.CREDIT, id, creditPayload(bytes)),
    );
    this.#handle = tools.handles.take(order, this);
    this.#upload.grant();
  }

  get easy(): Pointer {
    return this.#handle.easy;
  }

  /** Such as `exchange 7 (answering)`. */
  toString(): string {
    return `exchange ${this.id} (${this.#phase.name})`;
  }

  onOpenSocket(address: Pointer): number {
    const opened = this.#tools.curl.sockets.open(address, this.#order.from);
    if (!('refusal' in opened)) this.#attempts = 'permitted';
    else if (this.#attempts !== 'permitted')
      this.#attempts = this.#describeFault('local-address', opened.refusal);
    return opened.socket;
  }

  /**
   * Called before the request goes out on a connection. libcurl calls it again, whatever the method, when a reused connection
   * ended without a byte of a response. The origin may have processed the request then, so only idempotent requests are
   * repeated (RFC 9110 section 9.2.2).
   */
  onConnected(): number {
    if (this.#mayHaveArrived() && !this.isIdempotent) {
      this.#refuse('reset', 'the connection ended before a response, and the request may not be repeated');
      return PREREQ.ABORT;
    }
    const { state } = this.#delivery;
    if (state === 'unsent') this.#tools.markSent(this.#order.slot, this.id);
    if (state === 'unsent' || state === 'returned')
      this.#delivery = { state: 'sent', returnedBytes: state === 'unsent' ? 0 : this.#requestBytes };
    this.#phase = { name: 'sent' };
    this.#sentAtMs = performance.now();
    // After a refused stream libcurl waits for another one; over HTTP/1.1 it can only open a new connection.
    this.limitConnecting(this.#order.protocol === 'h1');
    return PREREQ.OK;
  }

  /** Time from the request to the first byte of the response, milliseconds: at least a round trip. Null before. */
  get firstByteMs(): number | null {
    return this.#firstByteMs;
  }

  /** Reports to the host whether nothing at all comes back from the origin. */
  reportSilence(isSilent: boolean): void {
    if (isSilent === this.#isSilent) return;
    this.#isSilent = isSilent;
    this.#tools.output.add(isSilent ? FRAME.SILENT : FRAME.HEARD, this.id);
  }

  /** Whether it has been assigned to a connection. */
  get connected(): boolean {
    return this.#phase.name !== 'waiting';
  }

  /** Whether it is safe to be sent again, where its connection seems dead (RFC 9110 section 9.2.2). */
  get isIdempotent(): boolean {
    return IDEMPOTENT.has(this.#order.method);
  }

  /** Whether `restart` is possible: once, without a body and before the first byte of a response. */
  get canRestart(): boolean {
    const isUnanswered = this.#phase.name === 'waiting' || this.#phase.name === 'sent';
    return (
      isUnanswered && this.isIdempotent && !hasBody(this.#order) && this.#delivery.state !== 'unanswered'
    );
  }

  /** To be called after its removal from a connection, before it is added to another one. */
  restart(): void {
    this.#phase = { name: 'waiting' };
    this.#delivery = { state: 'unanswered' };
  }

  /** libcurl's error message, '' for none. */
  get errorMessage(): string {
    return this.#tools.curl.readText(this.#handle.errorText);
  }

  /** Sets whether the time until it gets a connection is limited. */
  limitConnecting(limited: boolean): void {
    const limitMs = limited ? CONNECT_TIMEOUT_MS[this.#order.protocol] : NO_TIMEOUT_MS;
    this.#tools.handles.limitConnecting(this.#handle, limitMs);
  }

  /**
   * Whether the origin may have received the request. It has not if the connection accepted no byte of it, as the header
   * goes first. QUIC may have sent packets before it fails, unless it could not open a stream, for instance because the origin
   * allows no more of them.
   */
  #mayHaveArrived(): boolean {
    if (this.#delivery.state !== 'sent') return this.#delivery.state === 'unanswered';
    if (this.#requestBytes > this.#delivery.returnedBytes) return true;
    return this.#order.protocol === 'h3' && !/bidi stream/.test(this.errorMessage);
  }

  get #requestBytes(): number {
    return this.#tools.curl.infoLong(this.easy, INFO.REQUEST_SIZE);
  }

  /** @param onStreamLimit called with the number of streams that the server of its HTTP/2 connection allows, when it arrives */
  traceStreamLimit(onStreamLimit: (streams: number) => void): void {
    this.#onStreamLimit = onStreamLimit;
    this.#tools.curl.setLong(this.easy, OPT.VERBOSE, 1);
  }

  onTrace(line: string): void {
    const streams = STREAM_LIMIT.exec(line)?.[1];
    if (streams !== undefined) this.#reportStreamLimit(streams === '-1' ? Infinity : Number(streams));
    const isReturned = this.#delivery.state === 'sent' && this.#phase.name !== 'responding';
    if (isReturned && NOT_PROCESSED[this.#order.protocol]?.test(line)) this.#delivery = { state: 'returned' };
  }

  #reportStreamLimit(streams: number): void {
    this.#onStreamLimit?.(streams);
    this.#onStreamLimit = null;
  }

  onHeader(line: string): boolean {
    if (this.#phase.name === 'refused') return false;
    this.#firstByteMs ??= performance.now() - this.#sentAtMs;
    if (this.#phase.name !== 'responding') this.#phase = { name: 'answering' };
    // SETTINGS come before any response: this libcurl traces them in other words.
    this.#reportStreamLimit(Infinity);
    // Nothing is sent again after a byte of a response.
    this.#upload.forget();
    const section = this.#sections.line(line);
    if (!section) return true;
    const { output } = this.#tools;
    if (section.status === 101) {
      this.#refuse('protocol', 'the origin switched protocols without a request');
      return false;
    }
    if (section.status < 200) {
      output.addJson(FRAME.INFORMATIONAL, this.id, section);
      return true;
    }
    const protocol = reportedProtocol(this.#tools.curl.infoLong(this.easy, INFO.HTTP_VERSION));
    if (protocol !== this.#order.protocol) {
      this.#refuse('protocol', `the response came over ${protocol ?? 'an unknown protocol'}`);
      return false;
    }
    let headers: HeaderField[];
    try {
      headers = responseFields(section.headers);
    } catch (fault) {
      this.#refuse('protocol', (fault as Error).message);
      return false;
    }
    this.#phase = { name: 'responding' };
    if (this.#order.protocol !== 'h1') this.#tools.curl.setLong(this.easy, OPT.VERBOSE, 0);
    output.addJson(FRAME.HEAD, this.id, { status: section.status, headers });
    return true;
  }

  onBody(data: Pointer, bytes: number): number {
    if (this.#credit <= 0) {
      this.#paused |= PAUSE.RECV;
      return WRITE_PAUSE;
    }
    this.#credit -= bytes;
    this.#delivered += bytes;
    this.#tools.output.addBody(this.id, data, bytes);
    return bytes;
  }

  /** Copies request bytes to libcurl. */
  onRead(target: Pointer, room: number): number {
    const taken = this.#upload.take(room, (piece, at) => {
      this.#tools.memory.write(piece, target + BigInt(at));
    });
    if (taken === null) {
      this.#paused |= PAUSE.SEND;
      return READ_PAUSE;
    }
    if (taken === 0 && this.#order.protocol === 'h3') setImmediate(() => this.runNow());
    return taken;
  }

  /**
   * Has libcurl act on the transfer. libcurl 8.14 only records the end of a body on HTTP/3, and the reset of another stream on HTTP/2: it
   * sends them with its next action, which may be seconds later. `pause` without a change of directions does not start libcurl's timer.
   */
  runNow(): void {
    if (this.#phase.name === 'freed') return;
    this.#tools.curl.pause(this.easy, this.#paused);
    this.#tools.runDue(this);
  }

  /** The request is sent again: its body from the start, if it is still buffered. */
  onSeek(offset: number): number {
    return offset === 0 && this.#upload.rewind() ? SEEK.OK : SEEK.FAIL;
  }

  /** @returns false when libcurl failed as it resumed. */
  uploadPiece(piece: Buffer): boolean {
    if (!this.#upload.push(piece)) throw new ExchangeFrameError(`${this}: more than was granted`);
    return this.#resume(PAUSE.SEND);
  }

  /** @returns false when libcurl failed as it resumed. */
  endUpload(): boolean {
    this.#upload.end();
    return this.#resume(PAUSE.SEND);
  }

  /** @returns false when libcurl failed as it resumed. */
  addCredit(bytes: number): boolean {
    this.#credit += bytes;
    return this.#credit <= 0 || this.#resume(PAUSE.RECV);
  }

  #resume(direction: number): boolean {
    if ((this.#paused & direction) === 0) return true;
    this.#paused &= ~direction;
    const code = this.#tools.curl.pause(this.easy, this.#paused);
    // Between two connections there is nothing to resume: the next one starts by itself.
    return code === CODE.OK || code === CODE.BAD_FUNCTION_ARGUMENT;
  }

  /** To be called when libcurl has finished the transfer, before its removal from the connection. */
  measure(): void {
    if (this.#order.measured) this.#figures = this.#tools.meter.measure(this.easy);
  }

  /** Response bytes that libcurl buffers because the host has granted no more credit. */
  heldBytes(): number {
    if ((this.#paused & PAUSE.RECV) === 0) return 0;
    return this.#tools.curl.infoOffset(this.easy, INFO.SIZE_DOWNLOAD_T) - this.#delivered;
  }

  /**
   * Sends the last frame, after libcurl has ended the transfer with `code`.
   *
   * @param message libcurl's message, where it is about another exchange.
   */
  end(code: number, message?: string): void {
    const { output } = this.#tools;
    const isWhole = code === CODE.OK && this.#phase.name === 'responding';
    if (isWhole) {
      const ended: ExchangeEnd = { trailers: endToEnd(this.#sections.trailers), figures: this.#figures };
      output.addJson(FRAME.END, this.id, ended);
    } else output.addJson(FRAME.FAULT, this.id, this.#faultOf(code, message ?? this.errorMessage));
    this.#phase = { name: 'ended', isWhole };
  }

  #faultOf(code: number, curlMessage: string): ExchangeFault {
    if (this.#phase.name === 'refused') return this.#phase.fault;
    if (typeof this.#attempts === 'object') return this.#attempts;
    const isConnected = this.#phase.name !== 'waiting';
    const isRight = describesCode(code, curlMessage, isConnected);
    const message = isRight ? curlMessage : this.#tools.curl.errorText(code);
    const progress = { protocol: this.#order.protocol, phase: this.#phase.name };
    return this.#describeFault(errorCode(code, curlMessage, progress), message);
  }

  #refuse(code: ExchangeFault['code'], message: string): void {
    this.#phase = { name: 'refused', fault: this.#describeFault(code, message) };
  }

  #describeFault(code: ExchangeFault['code'], message: string): ExchangeFault {
    return { code, message, sent: this.#mayHaveArrived(), phase: this.#phase.name };
  }

  /** To be called once the handle has been removed from its multi handle. */
  free(): void {
    const { handles } = this.#tools;
    this.#upload.close();
    if (this.#phase.name === 'ended' && this.#phase.isWhole) handles.giveBack(this.#handle);
    else handles.discard(this.#handle);
    this.#phase = { name: 'freed' };
  }
}
