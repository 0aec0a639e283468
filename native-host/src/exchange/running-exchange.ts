/** The host's side of one exchange. */
import type { Readable } from 'node:stream';
import type { CreditAccount } from './credit-pool.ts';
import { type Exchange, ExchangeError, type ExchangeRequest, type ResponseHead } from './exchange.ts';
import type { ExchangeErrorCode } from './exchange-fault.ts';
import { ExchangeFrameError } from './exchange-frames.ts';
import { type ExchangeOrder, exchangeOrder } from './exchange-order.ts';
import type { HeaderField } from './headers.ts';
import { Later } from './lazy-deferred.ts';
import { ResponseBody } from './response-body.ts';
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

/** libcurl's largest piece of a body: what is granted may be gone beyond by less than that. */
const LARGEST_PIECE_BYTES = 16 * 1024;

export class RunningExchange implements Exchange {
  onInformational?: (status: number, headers: HeaderField[]) => void;
  readonly #request: ExchangeRequest;
  readonly #account: CreditAccount;
  readonly #onEnd: () => void;
  readonly #head = new Later<ResponseHead>();
  readonly #trailers = new Later<HeaderField[]>();
  #output: ExchangeOutput | null = null;
  #state: 'open' | 'done' | 'failed' = 'open';
  #sent = false;
  #fault: ExchangeError | null = null;
  #whole: readonly HeaderField[] | null = null;
  /** Of the response, before anybody has asked for its stream. */
  #pieces: Buffer[] = [];
  #body: ResponseBody | null = null;
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
    // Without it an upload that fails while the engine still starts would have nobody to hear of it.
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
    // Nobody wants what is here already of one that had ended.
    this.#dropBody();
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
    this.#head.resolve({ protocol: this.#request.protocol, status, headers });
  }

  onBody(piece: Buffer): void {
    this.#onTheWay -= piece.length;
    if (this.#onTheWay < -LARGEST_PIECE_BYTES) throw new ExchangeFrameError('more than was granted');
    if (!this.open) return;
    if (this.#body) this.#body.push(piece);
    else this.#pieces.push(piece);
    // A flowing stream has passed it on already.
    this.#grant();
  }

  onEnd(trailers: HeaderField[]): void {
    if (!this.open) return;
    this.#end('done', null);
    this.#whole = trailers;
    this.#trailers.resolve(trailers);
    if (this.#body) this.#body.push(null);
    else if (this.#pieces.length === 0) this.#account.close();
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
    // Whoever looks at the head or the trailers knows of the failure; the stream's must not end the process.
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
      // An engine that has failed it itself ignores this.
      this.#output?.cancel();
      this.#head.reject(fault);
      this.#trailers.reject(fault);
    }
    this.#endUpload();
    this.#onEnd();
  }

  #grant(): void {
    if (!this.open || !this.#output) return;
    const granted = this.#account.grant(this.#onTheWay + this.#heldBytes);
    if (granted === 0) return;
    this.#onTheWay += granted;
    this.#output.credit(granted);
  }

  get #heldBytes(): number {
    return this.#body?.readableLength ?? this.#pieces.reduce((bytes, piece) => bytes + piece.length, 0);
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
