import { PassThrough } from 'node:stream';
import {
  type Exchange,
  ExchangeError,
  type ExchangeRequest,
  type ResponseHead,
} from '../../../src/engine/exchange.ts';
import type { ExchangeErrorCode } from '../../../src/engine/exchange-fault.ts';

/** An exchange whose end the test decides. */
export class FakeExchange implements Exchange {
  readonly head: Promise<ResponseHead>;
  readonly body = new PassThrough();
  readonly trailers = Promise.resolve([]);
  readonly request: ExchangeRequest;
  sent = false;
  whole: Exchange['whole'] = null;
  cancelled = false;
  #answer: (head: ResponseHead) => void = () => {};
  #fail: (fault: Error) => void = () => {};

  constructor(request: ExchangeRequest) {
    this.request = request;
    this.head = new Promise((resolve, reject) => {
      this.#answer = resolve;
      this.#fail = reject;
    });
    this.head.catch(() => {});
  }

  answer(status = 200): void {
    this.#answer({ protocol: this.request.protocol, status, headers: [] });
  }

  fail(code: ExchangeErrorCode, sent = false): void {
    this.#fail(new ExchangeError(code, code, sent));
  }

  cancel(): void {
    this.cancelled = true;
    this.fail('reset', this.sent);
  }
}

export class FakeEngine {
  readonly exchanges: FakeExchange[] = [];

  exchange(request: ExchangeRequest): FakeExchange {
    const exchange = new FakeExchange(request);
    this.exchanges.push(exchange);
    return exchange;
  }

  get last(): FakeExchange {
    return this.exchanges.at(-1)!;
  }
}

/** After what follows from what has just been decided. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
