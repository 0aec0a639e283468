/** The host's side of one exchange. */
import { Readable } from 'node:stream';
import type { CreditAccount } from './credit-pool.ts';
import { type Exchange, ExchangeError, type ExchangeRequest, type ResponseHead } from './exchange.ts';
import type { ExchangeErrorCode } from './exchange-fault.ts';
import { ExchangeFrameError } from './exchange-frames.ts';
import { type ExchangeOrder, exchangeOrder } from './exchange-order.ts';
import type { HeaderField } from './headers.ts';
import type { ResponseSection } from './response-sections.ts';

/** What an exchange can tell the engine. */
export interface ExchangeOutput {
  request(order: ExchangeOrder): void;
  /** Whether the engine was about to send something of it. Known until its end. */
  isNoted(): boolean;
  body(piece: Uint8Array): void;
  end(): void;
  credit(bytes: number): void;
  /** The engine needs to do no more for it. */
  cancel(): void;
}

/** Longest piece of a request body that goes to the engine at once. */
const UPLOAD_PIECE_BYTES = 64 * 1024;

/** Tells of everything that is taken out of it, which the `read` that streams call for more does not. */
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

/** libcurl's largest piece of a body: what is granted may be gone beyond by less than that. */
const LARGEST_PIECE_BYTES = 16 * 1024;

export class RunningExchange implements Exchange {
  readonly head: Promise<ResponseHead>;
  readonly body: Readable;
  readonly trailers: Promise<HeaderField[]>;
  onInformational?: (status: number, headers: HeaderField[]) => void;
  readonly #request: ExchangeRequest;
  readonly #account: CreditAccount;
  readonly #onEnd: () => void;
  readonly #headSettled = deferred<ResponseHead>();
  readonly #trailersSettled = deferred<HeaderField[]>();
  #output: ExchangeOutput | null = null;
  #state: 'open' | 'done' | 'failed' = 'open';
  #sent = false;
  #whole: readonly HeaderField[] | null = null;
  /** Response bytes granted and not yet here. */
  #onTheWay = 0;
  /** Request bytes that the engine takes, and what was read of the body beyond them. */
  #uploadCredit = 0;
  #unsent: Buffer | null = null;
  #uploadOver = false;

  /** @param onEnd called once, when nothing more is to be expected of the engine. */
  constructor(request: ExchangeRequest, account: CreditAccount, onEnd: () => void) {
    this.#request = request;
    this.#account = account;
    this.#onEnd = onEnd;
    this.head = this.#headSettled.promise;
    this.trailers = this.#trailersSettled.promise;
    // Whoever looks at one of the three knows of the failure; the others must not end the process.
    this.head.catch(() => {});
    this.trailers.catch(() => {});
    this.body = new ResponseBody(
      () => this.#grant(),
      (fault) => {
        this.#account.close();
        if (!this.open) return;
        this.#end('failed', new ExchangeError('reset', fault?.message ?? 'cancelled', this.sent));
      },
    );
    this.body.on('error', () => {});
    // Without it an upload that fails while the engine still starts would have nobody to hear of it.
    request.body?.on('error', () => this.cancel());
  }

  get sent(): boolean {
    if (this.open) this.#sent ||= this.#output?.isNoted() ?? false;
    return this.#sent;
  }

  get whole(): readonly HeaderField[] | null {
    return this.#whole;
  }

  get open(): boolean {
    return this.#state === 'open';
  }

  cancel(): void {
    this.fail('reset', 'cancelled', this.sent);
  }

  start(output: ExchangeOutput): void {
    if (!this.open) return;
    try {
      const order = exchangeOrder(this.#request, this.#account.grant(0));
      this.#output = output;
      this.#onTheWay = order.credit;
      output.request(order);
      if (this.#request.body && order.body !== 0) this.#upload(this.#request.body);
    } catch (fault) {
      this.fail('refused-locally', (fault as Error).message, false);
    }
  }

  onInformationalSection({ status, headers }: ResponseSection): void {
    if (this.open) this.onInformational?.(status, headers);
  }

  onHead({ status, headers }: ResponseSection): void {
    this.#sent = true;
    this.#headSettled.resolve({ protocol: this.#request.protocol, status, headers });
  }

  onBody(piece: Buffer): void {
    this.#onTheWay -= piece.length;
    if (this.#onTheWay < -LARGEST_PIECE_BYTES) throw new ExchangeFrameError('more than was granted');
    if (!this.open) return;
    this.body.push(piece);
    // A flowing stream has passed it on already.
    this.#grant();
  }

  onEnd(trailers: HeaderField[]): void {
    if (!this.open) return;
    this.#end('done', null);
    this.#whole = trailers;
    this.#trailersSettled.resolve(trailers);
    this.body.push(null);
  }

  onUploadCredit(bytes: number): void {
    this.#uploadCredit += bytes;
    this.#pump();
  }

  fail(code: ExchangeErrorCode, message: string, sent: boolean): void {
    if (!this.open) return;
    // The engine knows of what was noted and did not go out after all.
    this.#sent = sent;
    const fault = new ExchangeError(code, message, this.#sent);
    this.#end('failed', fault);
    this.body.destroy(fault);
  }

  #end(state: 'done' | 'failed', fault: ExchangeError | null): void {
    if (!this.open) return;
    this.#state = state;
    if (fault) {
      // An engine that has failed it itself ignores this.
      this.#output?.cancel();
      this.#headSettled.reject(fault);
      this.#trailersSettled.reject(fault);
    }
    this.#endUpload();
    this.#onEnd();
  }

  #grant(): void {
    if (!this.open || !this.#output) return;
    const granted = this.#account.grant(this.#onTheWay + this.body.readableLength);
    if (granted === 0) return;
    this.#onTheWay += granted;
    this.#output.credit(granted);
  }

  #upload(source: Readable): void {
    source.on('readable', this.#pump);
    source.once('end', this.#onSourceEnd);
    source.once('close', this.#onSourceClose);
    // Over already, or broken off before anybody listened.
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
      const piece = bytes.subarray(0, Math.min(this.#uploadCredit, UPLOAD_PIECE_BYTES));
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

  /** The rest of the request's body is nobody's concern any more: its source is let go of. */
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

interface Deferred<T> {
  promise: Promise<T>;
  resolve: (value: T) => void;
  reject: (fault: Error) => void;
}

function deferred<T>(): Deferred<T> {
  const parts = {} as Deferred<T>;
  parts.promise = new Promise<T>((resolve, reject) => Object.assign(parts, { resolve, reject }));
  return parts;
}
