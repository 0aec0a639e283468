/** The engine's side of one exchange: answers libcurl's callbacks. */

import { CODE, INFO, OPT, PAUSE, PREREQ, READ_PAUSE, SEEK, WRITE_PAUSE } from '../curl/curl-constants.ts';
import { reportedProtocol } from '../curl/easy-options.ts';
import type { Libcurl, Pointer } from '../curl/libcurl.ts';
import type { NativeMemory } from '../curl/native-memory.ts';
import type { CreditAccount } from './credit-pool.ts';
import {
  CONNECT_TIMEOUT_MS,
  type EasyHandle,
  type EasyHandleListener,
  type EasyHandles,
} from './easy-handles.ts';
import { describesCode, type ExchangeFault, errorCode } from './exchange-fault.ts';
import { creditPayload, ExchangeFrameError, FRAME } from './exchange-frames.ts';
import { IDEMPOTENT, isTraced, type MarkedOrder } from './exchange-order.ts';
import type { FrameWriter } from './frame-writer.ts';
import { endToEnd, type HeaderField, responseFields } from './headers.ts';
import { ResponseSections } from './response-sections.ts';
import { UploadQueue } from './upload-queue.ts';

export interface ExchangeTools {
  curl: Libcurl;
  handles: EasyHandles;
  memory: NativeMemory;
  output: FrameWriter;
  /** Marks the request as sent, before its first byte goes out. */
  markSent: (slot: number, exchange: number) => void;
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

export class ExchangeTransfer implements EasyHandleListener {
  readonly id: number;
  readonly #handle: EasyHandle;
  readonly #order: MarkedOrder;
  readonly #tools: ExchangeTools;
  readonly #sections = new ResponseSections();
  readonly #upload: CreditAccount;
  readonly #uploadQueue = new UploadQueue();
  /** Paused directions, `PAUSE` bits. */
  #paused: number = PAUSE.NONE;
  /** Response bytes that may still be sent to the host; one piece of libcurl's can take it below zero. */
  #credit: number;
  #delivered = 0;
  /** Request bytes granted that libcurl has not taken, and how many of them have arrived. */
  #uploadHeld = 0;
  #uploadHere = 0;
  #uploadEnded: boolean;
  /** The request was about to go out. */
  #markedSent = false;
  /** It has been assigned to a connection. */
  #isConnected = false;
  /** It was sent on a connection on which nothing came back, and is sent again. */
  #isRestarted = false;
  /** The origin has not processed what was sent so far, nor the first `#notProcessedBytes` of the request. */
  #notProcessed = false;
  #notProcessedBytes = 0;
  /** Why it was ended on this side; null when it was not. */
  #refused: ExchangeFault | null = null;
  /** A connection attempt was permitted. */
  #hasSocket = false;
  /** A header line has arrived. */
  #isAnswered = false;
  #headSeen = false;
  #isTraced: boolean;
  #onStreamLimit: ((streams: number) => void) | null = null;
  #endedWell = false;
  #freed = false;

  /** @throws Error when libcurl refuses the request. */
  constructor(id: number, order: MarkedOrder, upload: CreditAccount, tools: ExchangeTools) {
    this.id = id;
    this.#order = order;
    this.#tools = tools;
    this.#upload = upload;
    this.#credit = order.credit;
    this.#isTraced = isTraced(order);
    this.#uploadEnded = order.body === 'none' || order.body === 0;
    this.#handle = tools.handles.take(order, this);
    if (!this.#uploadEnded) this.#grantUpload();
  }

  get easy(): Pointer {
    return this.#handle.easy;
  }

  onOpenSocket(address: Pointer): number {
    const opened = this.#tools.curl.sockets.open(address, this.#order.from);
    this.#hasSocket ||= !('refusal' in opened);
    if (this.#hasSocket) this.#refused = null;
    else if ('refusal' in opened) this.#refuse('local-address', opened.refusal);
    return opened.socket;
  }

  /**
   * Called before the request goes out on a connection. libcurl calls it again, whatever the method, when a reused connection
   * ended without a byte of a response. The origin may have processed the request then, so only idempotent requests are
   * repeated (RFC 9110 section 9.2.2).
   */
  onConnected(): number {
    if (this.#mayHaveArrived() && !IDEMPOTENT.has(this.#order.method)) {
      this.#refuse('reset', 'the connection ended before a response, and the request may not be repeated');
      return PREREQ.ABORT;
    }
    if (!this.#markedSent) this.#tools.markSent(this.#order.slot, this.id);
    else if (this.#notProcessed) this.#notProcessedBytes = this.#requestBytes;
    this.#notProcessed = false;
    this.#markedSent = true;
    this.#isConnected = true;
    // After a refused stream libcurl waits for another one; over HTTP/1.1 it can only open a new connection.
    this.limitConnecting(this.#order.protocol === 'h1');
    return PREREQ.OK;
  }

  /** Whether it has been assigned to a connection. */
  get connected(): boolean {
    return this.#isConnected;
  }

  /** Whether it is safe to be sent again, where its connection seems dead (RFC 9110 section 9.2.2). */
  get isIdempotent(): boolean {
    return IDEMPOTENT.has(this.#order.method);
  }

  /** Whether `restart` is possible: once, without a body and before the first byte of a response. */
  get canRestart(): boolean {
    const { body } = this.#order;
    const hasBody = body !== 'none' && body !== 0;
    return this.isIdempotent && !hasBody && !this.#isAnswered && !this.#isRestarted;
  }

  /** To be called after its removal from a connection, before it is added to another one. */
  restart(): void {
    this.#isConnected = false;
    this.#isRestarted = true;
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
    if (this.#isRestarted) return true;
    if (!this.#markedSent || this.#notProcessed) return false;
    if (this.#requestBytes > this.#notProcessedBytes) return true;
    return this.#order.protocol === 'h3' && !/bidi stream/.test(this.errorMessage);
  }

  get #requestBytes(): number {
    return this.#tools.curl.infoLong(this.easy, INFO.REQUEST_SIZE);
  }

  /** @param onStreamLimit called with the number of streams that the server of its HTTP/2 connection allows, when it arrives */
  traceStreamLimit(onStreamLimit: (streams: number) => void): void {
    this.#isTraced = true;
    this.#onStreamLimit = onStreamLimit;
    this.#tools.curl.setLong(this.easy, OPT.VERBOSE, 1);
  }

  onTrace(line: string): void {
    const streams = STREAM_LIMIT.exec(line)?.[1];
    if (streams !== undefined) this.#reportStreamLimit(streams === '-1' ? Infinity : Number(streams));
    if (!this.#headSeen && NOT_PROCESSED[this.#order.protocol]?.test(line)) this.#notProcessed = true;
  }

  #reportStreamLimit(streams: number): void {
    this.#onStreamLimit?.(streams);
    this.#onStreamLimit = null;
  }

  onHeader(line: string): boolean {
    this.#isAnswered = true;
    // SETTINGS come before any response: this libcurl traces them in other words.
    this.#reportStreamLimit(Infinity);
    // Nothing is sent again after a byte of a response.
    this.#uploadQueue.forget();
    const section = this.#sections.line(line);
    if (!section) return true;
    const { output } = this.#tools;
    if (section.status === 101) {
      this.#refuse('protocol', 'the origin switched protocols without a request');
      return false;
    }
    if (section.status < 200) {
      output.json(FRAME.INFORMATIONAL, this.id, section);
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
    this.#headSeen = true;
    if (this.#isTraced) this.#tools.curl.setLong(this.easy, OPT.VERBOSE, 0);
    output.json(FRAME.HEAD, this.id, { status: section.status, headers });
    return true;
  }

  onBody(data: Pointer, bytes: number): number {
    if (this.#credit <= 0) {
      this.#paused |= PAUSE.RECV;
      return WRITE_PAUSE;
    }
    this.#credit -= bytes;
    this.#delivered += bytes;
    this.#tools.output.body(this.id, data, bytes);
    return bytes;
  }

  /** Copies request bytes to libcurl. */
  onRead(target: Pointer, room: number): number {
    const done = this.#uploadQueue.take(room, (piece, at) => {
      this.#tools.memory.write(piece, target + BigInt(at));
    });
    if (done === 0 && !this.#uploadEnded) {
      this.#paused |= PAUSE.SEND;
      return READ_PAUSE;
    }
    this.#uploadHeld -= done;
    this.#uploadHere -= done;
    if (!this.#uploadEnded) this.#grantUpload();
    else if (done === 0 && this.#order.protocol === 'h3') setImmediate(() => this.#flushEnd());
    return done;
  }

  /**
   * libcurl 8.14 records the end of a body on HTTP/3 and sends it with its next action, which may be seconds later: this
   * triggers one. `pause` without a change of directions does not start libcurl's timer.
   */
  #flushEnd(): void {
    if (this.#freed) return;
    this.#tools.curl.pause(this.easy, this.#paused);
    this.#tools.runDue(this);
  }

  /** The request is sent again: its body from the start, if it is still buffered. */
  onSeek(offset: number): number {
    const bytes = offset === 0 ? this.#uploadQueue.rewind() : null;
    if (bytes === null) return SEEK.FAIL;
    this.#uploadHeld += bytes;
    this.#uploadHere += bytes;
    return SEEK.OK;
  }

  #grantUpload(): void {
    const granted = this.#upload.grant(this.#uploadHeld);
    if (granted === 0) return;
    this.#uploadHeld += granted;
    this.#tools.output.frame(FRAME.CREDIT, this.id, creditPayload(granted));
  }

  /** @returns false when libcurl failed as it resumed. */
  uploadPiece(piece: Buffer): boolean {
    this.#uploadHere += piece.length;
    if (this.#uploadHere > this.#uploadHeld) throw new ExchangeFrameError('more than was granted');
    this.#uploadQueue.push(piece);
    return this.#resume(PAUSE.SEND);
  }

  /** @returns false when libcurl failed as it resumed. */
  uploadEnd(): boolean {
    this.#uploadEnded = true;
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
    if (code === 0 && this.#headSeen) {
      this.#endedWell = true;
      output.json(FRAME.END, this.id, endToEnd(this.#sections.trailers));
    } else
      output.json(FRAME.FAULT, this.id, this.#refused ?? this.#fault(code, message ?? this.errorMessage));
  }

  #fault(code: number, curlMessage: string): ExchangeFault {
    const message = describesCode(code, curlMessage) ? curlMessage : this.#tools.curl.errorText(code);
    const progress = {
      protocol: this.#order.protocol,
      connected: this.#isConnected,
      answered: this.#headSeen,
    };
    return { code: errorCode(code, curlMessage, progress), message, sent: this.#mayHaveArrived() };
  }

  #refuse(code: ExchangeFault['code'], message: string): void {
    this.#refused = { code, message, sent: this.#mayHaveArrived() };
  }

  /** To be called once the handle has been removed from its multi handle. */
  free(): void {
    const { handles } = this.#tools;
    this.#freed = true;
    this.#upload.close();
    if (this.#endedWell) handles.giveBack(this.#handle);
    else handles.discard(this.#handle);
  }
}
