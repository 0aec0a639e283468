import type { Protocol } from '@hopwise/contract';
import type { Exchange, ExchangeError, ExchangeRequest, ResponseHead } from '../../exchange/exchange.ts';
import type { HeaderField } from '../../exchange/headers.ts';
import type { BrowserRequest } from './browser-request.ts';
import { askFrom, isRestOf, type Resumption, resumptionOf } from './resumption.ts';
import { isLostConnection, otherProtocols } from './retry-policy.ts';

/** How long nothing of a body may come over HTTP/3 until something is sent on its connection, doubled after each time. */
const STALLED_AFTER_MS = 1_000;

interface BodyRelayOptions {
  request: BrowserRequest;
  /** The exchange whose response has begun. */
  exchange: Exchange;
  head: ResponseHead;
  /** Bytes of the body that have been passed on already. */
  passedBytes: number;
  /** Sends a request to the same target. */
  open(request: Omit<ExchangeRequest, 'url'>): Exchange;
  /** Nothing has come for a while: something is to be sent under this protocol, so that it shows whether anything comes back. */
  onStalled(protocol: Protocol): void;
  /** The rest comes under another protocol, as nothing at all comes back under the first. */
  onOvertaken(by: Protocol): void;
  /** The exchange has failed. The rest may still come. */
  onFailed(fault: ExchangeError): void;
  /** The whole body has been passed on. `isResumed`: not all of it is the exchange's. */
  onEnd(trailers: readonly HeaderField[], isResumed: boolean): void;
  /** It has broken off for good. */
  onBrokenOff(): void;
}

/**
 * Passes the body of a response on to the browser. Where the path of HTTP/3 drops packets from some point on, or its connection is lost, the rest is
 * asked for over TCP, by a range of the same representation; what is not surely that is not passed on.
 */
export class BodyRelay {
  readonly #options: BodyRelayOptions;
  /** The exchange whose bytes are passed on. */
  #exchange: Exchange;
  #passedBytes: number;
  /** null where the rest cannot be asked for, or not any more. */
  #resumption: Resumption | null;
  /** Under which the rest is asked for next. */
  #untried: readonly Protocol[] = [];
  #rest: { exchange: Exchange; protocol: Protocol } | null = null;
  #isResumed = false;
  /** Whether the exchange has failed. */
  #isLost = false;
  #isOver = false;
  /** Whether nothing has come for a while, though the browser takes it. */
  #isStalled = false;
  #stall: NodeJS.Timeout | undefined;

  constructor(options: BodyRelayOptions) {
    const { request, exchange, head, passedBytes } = options;
    this.#options = options;
    this.#exchange = exchange;
    this.#passedBytes = passedBytes;
    this.#resumption = head.protocol === 'h3' ? resumptionOf(request, head) : null;
    exchange.onSilent = () => {
      if (this.#isStalled) this.#askForRest();
    };
    request.onDrain = () => {
      this.#watch();
      this.#exchange.body.resume();
    };
    this.#watch();
    this.#forward(exchange);
  }

  /** Passes nothing more on. */
  cancel(): void {
    if (this.#isOver) return;
    this.#stop();
    this.#exchange.cancel();
  }

  #stop(): void {
    this.#isOver = true;
    clearTimeout(this.#stall);
    this.#dropRest();
  }

  #forward(exchange: Exchange): void {
    const { body } = exchange;
    const isCurrent = (): boolean => !this.#isOver && exchange === this.#exchange;
    body
      .on('error', (fault: ExchangeError) => {
        if (isCurrent()) this.#onFault(fault);
      })
      .on('end', () => {
        exchange.trailers.then(
          (trailers) => {
            if (isCurrent()) this.#onEnd(trailers);
          },
          () => {},
        );
      })
      .on('data', (chunk: Buffer) => {
        if (isCurrent()) this.#pass(chunk);
      });
  }

  #pass(chunk: Buffer): void {
    const { request } = this.#options;
    this.#passedBytes += chunk.length;
    if (this.#isResumed && this.#passedBytes > this.#resumption!.totalBytes) {
      this.#breakOff();
      return;
    }
    this.#onProgress();
    if (request.write(chunk)) return;
    // Nothing is expected until the browser takes more.
    clearTimeout(this.#stall);
    this.#exchange.body.pause();
  }

  #onProgress(): void {
    if (this.#isStalled) {
      this.#dropRest();
      this.#watch();
    } else this.#stall?.refresh();
  }

  #onEnd(trailers: readonly HeaderField[]): void {
    const isWhole = !this.#isResumed || this.#passedBytes === this.#resumption!.totalBytes;
    if (isWhole) this.#complete(this.#isResumed ? [] : trailers);
    else this.#breakOff();
  }

  #complete(trailers: readonly HeaderField[]): void {
    this.#stop();
    this.#options.onEnd(trailers, this.#isResumed);
  }

  #breakOff(): void {
    this.#stop();
    this.#exchange.cancel();
    this.#options.onBrokenOff();
  }

  #onFault(fault: ExchangeError): void {
    clearTimeout(this.#stall);
    this.#isLost = true;
    if (!this.#isResumed) this.#options.onFailed(fault);
    const mayGoOn = isLostConnection(fault) || fault.code === 'timeout';
    if (this.#isOver || this.#rest) return;
    if (mayGoOn && !this.#isResumed) this.#askForRest();
    else this.#breakOff();
  }

  /** Begins to wait for the next bytes. */
  #watch(afterMs: number = STALLED_AFTER_MS): void {
    clearTimeout(this.#stall);
    if (afterMs === STALLED_AFTER_MS) this.#isStalled = false;
    if (this.#rest === null) this.#untried = otherProtocols('h3');
    if (this.#resumption === null || this.#isResumed || this.#isLost) return;
    this.#stall = setTimeout(() => {
      this.#isStalled = true;
      this.#watch(2 * afterMs);
      if (this.#exchange.isSilent) this.#askForRest();
      else this.#options.onStalled('h3');
    }, afterMs);
  }

  #askForRest(): void {
    const resumption = this.#resumption;
    if (this.#isOver || this.#isResumed || this.#rest) return;
    const [protocol, ...untried] = this.#untried;
    if (resumption === null || protocol === undefined) {
      if (this.#isLost) this.#breakOff();
      return;
    }
    if (this.#passedBytes >= resumption.totalBytes) {
      this.#endAtLength(resumption);
      return;
    }
    this.#untried = untried;
    const { request, open } = this.#options;
    const headers = askFrom(request.headers, resumption, this.#passedBytes);
    const exchange = open({ protocol, method: request.method, headers, body: null });
    this.#rest = { exchange, protocol };
    exchange.head.then(
      (head) => this.#onRest(exchange, head),
      () => this.#onRestFailed(exchange),
    );
  }

  /** Where a path drops packets, only the end of the stream is missing. A stream that ended otherwise was not whole. */
  #endAtLength({ totalBytes }: Resumption): void {
    if (this.#isLost || this.#passedBytes > totalBytes) {
      this.#giveRestUp();
      return;
    }
    const exchange = this.#exchange;
    this.#complete([]);
    exchange.cancel();
  }

  #onRest(exchange: Exchange, head: ResponseHead): void {
    const rest = this.#rest;
    if (exchange !== rest?.exchange) return;
    if (exchange.fault) {
      this.#onRestFailed(exchange);
      return;
    }
    this.#rest = null;
    if (!isRestOf(this.#resumption!, this.#passedBytes, head)) {
      exchange.cancel();
      this.#giveRestUp();
      return;
    }
    const former = this.#exchange;
    const isOvertaken = former.isSilent;
    clearTimeout(this.#stall);
    this.#exchange = exchange;
    this.#isResumed = true;
    former.cancel();
    this.#forward(exchange);
    if (isOvertaken) this.#options.onOvertaken(rest.protocol);
  }

  #onRestFailed(exchange: Exchange): void {
    if (exchange !== this.#rest?.exchange) return;
    this.#rest = null;
    this.#askForRest();
  }

  /** What is still to come can only come from the exchange itself. */
  #giveRestUp(): void {
    this.#resumption = null;
    clearTimeout(this.#stall);
    if (this.#isLost) this.#breakOff();
  }

  #dropRest(): void {
    const rest = this.#rest;
    this.#rest = null;
    rest?.exchange.cancel();
  }
}
