import { Engine } from '../../src/engine/engine.ts';
import type { Exchange, ExchangeRequest } from '../../src/exchange/exchange.ts';

/** Sends requests to the servers of tests, which are on this machine. */
export class LocalEngine extends Engine {
  override exchange(request: ExchangeRequest): Exchange {
    return super.exchange({ from: 'loopback', ...request });
  }
}
