import { PassThrough } from 'node:stream';
import type { EngineInfo } from '../../../../src/engine/ipc.ts';
import {
  type Exchange,
  ExchangeError,
  type ExchangeRequest,
  type ResponseHead,
} from '../../../../src/exchange/exchange.ts';
import type { ExchangeErrorCode } from '../../../../src/exchange/exchange-fault.ts';
import type { HeaderField } from '../../../../src/exchange/headers.ts';

/** An exchange whose end the test decides. */
class FakeExchange implements Exchange {
  readonly head: Promise<ResponseHead>;
  readonly body = new PassThrough();
  readonly trailers = Promise.resolve([]);
  readonly request: ExchangeRequest;
  sent = false;
  readonly figures = null;
  isSilent = false;
  onSilent?: () => void;
  arrivedTrailers: Exchange['arrivedTrailers'] = null;
  #fault: ExchangeError | null = null;
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

  get fault(): ExchangeError | null {
    return this.#fault ?? (this.body.errored as ExchangeError | null);
  }

  answer(status = 200, headers: HeaderField[] = []): void {
    this.#answer({ protocol: this.request.protocol, status, headers });
  }

  fallSilent(): void {
    this.isSilent = true;
    this.onSilent?.();
  }

  take(): Buffer | null {
    return this.body.read();
  }

  fail(code: ExchangeErrorCode, sent = false): void {
    this.#fault = new ExchangeError(code, code, sent);
    this.#fail(this.#fault);
  }

  cancel(): void {
    this.cancelled = true;
    this.fail('reset', this.sent);
  }
}

export const ENGINE_INFO: EngineInfo = {
  path: 'libcurl.so.4',
  version: '8.14.1',
  number: 0x080e01,
  tls: '',
  nghttp2: '',
  quic: '',
  http2: true,
  http3: true,
  caFile: '',
};

export class FakeEngine {
  readonly exchanges: FakeExchange[] = [];
  /** When it has started. */
  started = Promise.resolve(ENGINE_INFO);

  start(): Promise<EngineInfo> {
    return this.started;
  }

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
