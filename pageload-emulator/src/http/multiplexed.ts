import {
  Connection,
  type ConnectionOwner,
  type ConnectionSettings,
  type Network,
} from '../transport/connection.ts';
import type { Stream } from '../transport/stream.ts';
import { addCounters, emptyCounters, type OriginClient, type OriginCounters } from './origin-client.ts';
import { PrioritySource } from './response-source.ts';

/** Usual SETTINGS_MAX_CONCURRENT_STREAMS and QUIC stream credit (RFC 9113 section 6.5.2 asks for at least this). */
const MAX_STREAMS = 100;
/** What HPACK and QPACK leave of a request's header fields once its like has gone before (RFC 7541, RFC 9204). */
const REPEATED_HEADER_SHARE = 0.25;
const SMALLEST_REQUEST_BYTES = 50;
/** Header fields up to here are compressed; what exceeds it is a body. */
const MOST_HEADER_BYTES = 2_000;

/**
 * HTTP/2 (RFC 9113) and HTTP/3 (RFC 9114): one connection, all requests at once. They differ in the
 * transport's handshake and in what a lost packet holds up, which `ConnectionSettings` say.
 */
export class Multiplexed implements OriginClient, ConnectionOwner {
  readonly #network: Network;
  readonly #connection: Connection;
  readonly #counters = emptyCounters();
  #waiting: Stream[] = [];
  #active = 0;
  #sent = 0;

  constructor(network: Network, settings: ConnectionSettings, prioritised: boolean) {
    this.#network = network;
    this.#connection = new Connection(network, settings, this, new PrioritySource(prioritised));
  }

  fetch(stream: Stream): void {
    if (this.#counters.requests++ === 0) {
      this.#counters.connections++;
      this.#connection.connect();
    }
    if (this.#connection.open && this.#active < MAX_STREAMS) this.#request(stream);
    else this.#waiting.push(stream);
  }

  onOpen(): void {
    for (const stream of this.#waiting) {
      this.#counters.waitedForHandshake++;
      this.#counters.handshakeMs += this.#network.events.now - stream.startMs;
    }
    this.#sendWaiting();
  }

  done(): void {
    this.#active--;
    if (this.#waiting.length > 0) this.#sendWaiting();
  }

  counters(): OriginCounters {
    return addCounters({ ...this.#counters }, this.#connection.counters);
  }

  #sendWaiting(): void {
    const ready = this.#waiting.splice(0, MAX_STREAMS - this.#active);
    for (const stream of ready) this.#request(stream);
  }

  #request(stream: Stream): void {
    this.#active++;
    if (this.#sent++ > 0) stream.requestBytes = compressed(stream.requestBytes);
    this.#connection.request(stream);
  }
}

function compressed(requestBytes: number): number {
  const header = Math.min(requestBytes, MOST_HEADER_BYTES);
  const body = requestBytes - header;
  return Math.max(SMALLEST_REQUEST_BYTES, Math.ceil(header * REPEATED_HEADER_SHARE)) + body;
}
