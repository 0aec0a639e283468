/** The host's side of one exchange. */
import { Readable } from 'node:stream';
import type { CreditAccount } from './credit-pool.ts';
import { type Exchange, ExchangeError, type ExchangeRequest, type ResponseHead } from './exchange.ts';
import type { ExchangeErrorCode, ExchangePhase } from './exchange-fault.ts';
import type { ExchangeEnd, ExchangeFigures } from './exchange-figures.ts';
import { ExchangeFrameError } from './exchange-frames.ts';
import { type ExchangeOrder, exchangeOrder } from './exchange-order.ts';
import type { HeaderField } from './headers.ts';
import type { ResponseSection } from './response-sections.ts';

/** What an exchange sends to the engine. */
export interface ExchangeOutput {
  request(order: ExchangeOrder): void;
  /** Whether the engine marked it as sent. Valid until the exchange's end. */
  isMarkedSent(): boolean;
  body(piece: Uint8Array): void;
  end(): void;
  credit(bytes: number): void;
  /** The engine may stop working on it. */
  cancel(): void;
}

/** Piece of a request body that goes to the engine at once. */
const MAX_UPLOAD_PIECE_BYTES = 64 * 1024;

/** libcurl's largest piece of a body (`CURL_MAX_WRITE_SIZE`): credit may be exceeded by less than that. */
const MAX_PIECE_BYTES = 16 * 1024;

export class RunningExchange implements Exchange {
  onInformational?: (status: number, headers: HeaderField[]) => void;
  onSilent?: () => void;
  readonly #request: ExchangeRequest;
  readonly #account: CreditAccount;
  readonly #onEnd: () => void;
  readonly #head = deferred<ResponseHead>();
  readonly #trailers = deferred<HeaderField[]>();
  #output: ExchangeOutput | null = null;
  #state: 'open' | 'done' | 'failed' = 'open';
  #sent = false;
  #isSilent = false;
  #fault: ExchangeError | null = null;
  #arrivedTrailers: readonly HeaderField[] | null = null;
  #figures: ExchangeFigures | null = null;
  /** Bytes of the response that have arrived, until its stream is requested. */
  #pieces: Buffer[] = [];
  #body: ResponseBody | null = null;
  /** Response bytes granted that have not arrived. */
  #inTransit = 0;
  /** Request bytes that the engine accepts, and what was read of the body beyond them. */
  #uploadCredit = 0;
  #unsent: Buffer | null = null;
  #uploadOver = false;

  /** @param onEnd called once, when the engine sends nothing more. */
  constructor(request: ExchangeRequest, account: CreditAccount, onEnd: () => void) {
    this.#request = request;
    this.#account = account;
    this.#onEnd = onEnd;
    // An upload may fail while the engine still starts: without a listener the process would end.
    request.body?.on('error', () => this.cancel());
  }

  get head(): Promise<ResponseHead> {
    return this.#head.promise;
  }

  get trailers(): Promise<HeaderField[]> {
    return this.#trailers.promise;
  }

  get body(): Readable {
    this.#body ??= this.#openBody();
    return this.#body;
  }

  take(): Buffer | null {
    if (this.#body) throw new Error('the body is a stream already');
    if (this.#pieces.length === 0) return null;
    const taken = this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces);
    this.#pieces = [];
    if (this.open) this.#grant();
    else this.#account.close();
    return taken;
  }

  get fault(): ExchangeError | null {
    return this.#fault;
  }

  get sent(): boolean {
    if (this.open) this.#sent ||= this.#output?.isMarkedSent() ?? false;
    return this.#sent;
  }

  get isSilent(): boolean {
    return this.#isSilent;
  }

  get arrivedTrailers(): readonly HeaderField[] | null {
    return this.#arrivedTrailers;
  }

  get figures(): ExchangeFigures | null {
    return this.#figures;
  }

  get open(): boolean {
    return this.#state === 'open';
  }

  cancel(): void {
    this.fail('reset', 'cancelled', this.sent);
    // Bytes of a response that had already ended are discarded as well.
    this.#dropBody();
  }

  start(output: ExchangeOutput): void {
    if (!this.open) return;
    try {
      const order = exchangeOrder(this.#request, this.#account.grant(0));
      this.#output = output;
      this.#inTransit = order.credit;
      output.request(order);
      if (this.#request.body && order.body !== 0) this.#upload(this.#request.body);
    } catch (fault) {
      this.fail('refused-locally', (fault as Error).message, false);
    }
  }

  onInformationalSection({ status, headers }: ResponseSection): void {
    if (this.open) this.onInformational?.(status, headers);
  }

  onSilence(isSilent: boolean): void {
    this.#isSilent = isSilent;
    if (isSilent && this.open) this.onSilent?.();
  }

  onHead({ status, headers }: ResponseSection): void {
    this.#sent = true;
    this.#head.resolve({ protocol: this.#request.protocol, status, headers });
  }

  onBody(piece: Buffer): void {
    this.#inTransit -= piece.length;
    if (this.#inTransit < -MAX_PIECE_BYTES) throw new ExchangeFrameError('more than was granted');
    if (!this.open) return;
    if (this.#body) this.#body.push(piece);
    else this.#pieces.push(piece);
    // A flowing stream has consumed the piece already.
    this.#grant();
  }

  onEnd({ trailers, figures }: ExchangeEnd): void {
    if (!this.open) return;
    this.#figures = figures;
    this.#end('done', null);
    this.#arrivedTrailers = trailers;
    this.#trailers.resolve(trailers);
    if (this.#body) this.#body.push(null);
    else if (this.#pieces.length === 0) this.#account.close();
  }

  onUploadCredit(bytes: number): void {
    this.#uploadCredit += bytes;
    this.#pump();
  }

  fail(code: ExchangeErrorCode, message: string, sent: boolean, phase: ExchangePhase | null = null): void {
    if (!this.open) return;
    // The engine also knows of requests that were marked and never went out.
    this.#sent = sent;
    const fault = new ExchangeError(code, message, this.#sent, phase);
    this.#end('failed', fault);
    this.#dropBody();
  }

  #openBody(): ResponseBody {
    const body = new ResponseBody(
      () => this.#grant(),
      (fault) => {
        this.#account.close();
        if (!this.open) return;
        this.#end('failed', new ExchangeError('reset', fault?.message ?? 'cancelled', this.sent));
      },
    );
    // `head` and `trailers` report the failure; an unhandled error of the stream must not end the process.
    body.on('error', () => {});
    for (const piece of this.#pieces) body.push(piece);
    this.#pieces = [];
    if (this.#state === 'done') body.push(null);
    else if (this.#fault) body.destroy(this.#fault);
    return body;
  }

  #dropBody(): void {
    this.#pieces = [];
    this.#account.close();
    if (this.#fault) this.#body?.destroy(this.#fault);
    else this.#body?.destroy();
  }

  #end(state: 'done' | 'failed', fault: ExchangeError | null): void {
    if (!this.open) return;
    this.#state = state;
    this.#fault = fault;
    if (fault) {
      // The engine ignores this when it reported the failure itself.
      this.#output?.cancel();
      this.#head.reject(fault);
      this.#trailers.reject(fault);
    }
    this.#endUpload();
    this.#onEnd();
  }

  #grant(): void {
    if (!this.open || !this.#output) return;
    const granted = this.#account.grant(this.#inTransit + this.#heldBytes);
    if (granted === 0) return;
    this.#inTransit += granted;
    this.#output.credit(granted);
  }

  get #heldBytes(): number {
    return this.#body?.readableLength ?? this.#pieces.reduce((bytes, piece) => bytes + piece.length, 0);
  }

  #upload(source: Readable): void {
    source.on('readable', this.#pump);
    source.once('end', this.#onSourceEnd);
    source.once('close', this.#onSourceClose);
    // It may have ended or failed before the listeners were attached.
    if (source.readableEnded) this.#onSourceEnd();
    else if (source.destroyed) this.cancel();
    else this.#pump();
  }

  readonly #pump = (): void => {
    const source = this.#request.body;
    while (source && this.open && !this.#uploadOver && this.#uploadCredit > 0) {
      const chunk: Buffer | string | null = this.#unsent ?? source.read();
      this.#unsent = null;
      if (chunk === null) break;
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      const piece = bytes.subarray(0, Math.min(this.#uploadCredit, MAX_UPLOAD_PIECE_BYTES));
      this.#uploadCredit -= piece.length;
      if (piece.length < bytes.length) this.#unsent = bytes.subarray(piece.length);
      if (piece.length > 0) this.#output!.body(piece);
    }
    if (source?.readableEnded && !this.#unsent) this.#finishUpload();
  };

  readonly #onSourceEnd = (): void => {
    if (!this.#unsent) this.#finishUpload();
  };

  readonly #onSourceClose = (): void => {
    if (this.open && !this.#request.body!.readableEnded) this.cancel();
  };

  #finishUpload(): void {
    if (this.#uploadOver || !this.open) return;
    this.#uploadOver = true;
    this.#output!.end();
  }

  /** Detaches from the request's body and discards the rest of it. */
  #endUpload(): void {
    const source = this.#request.body;
    if (!source) return;
    source.off('readable', this.#pump);
    source.off('end', this.#onSourceEnd);
    source.off('close', this.#onSourceClose);
    this.#unsent = null;
    source.resume();
  }
}

/** A readable stream that reports every read of its buffer; `_read` is only called when the buffer runs low. */
class ResponseBody extends Readable {
  readonly #onTaken: () => void;
  readonly #onDestroy: (fault: Error | null) => void;

  constructor(onTaken: () => void, onDestroy: (fault: Error | null) => void) {
    super();
    this.#onTaken = onTaken;
    this.#onDestroy = onDestroy;
  }

  override read(bytes?: number): unknown {
    const chunk: unknown = super.read(bytes);
    if (chunk !== null) this.#onTaken();
    return chunk;
  }

  override _read(): void {}

  override _destroy(fault: Error | null, done: (fault?: Error | null) => void): void {
    this.#onDestroy(fault);
    done(fault);
  }
}

interface Deferred<T> {
  promise: Promise<T>;
  resolve: (value: T) => void;
  reject: (fault: Error) => void;
}

/** A promise and what settles it; its rejection need not be observed. */
function deferred<T>(): Deferred<T> {
  const parts: Partial<Deferred<T>> = {};
  const promise = new Promise<T>((resolve, reject) => Object.assign(parts, { resolve, reject }));
  promise.catch(() => {});
  return { ...(parts as Deferred<T>), promise };
}
