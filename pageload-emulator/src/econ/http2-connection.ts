import type { ModelledConnection } from './connection.ts';
import type { Opening, Request } from './http1-pool.ts';
import type { Transfer } from './transfer.ts';

/** RFC 9113 section 6.5.2 recommends no fewer; servers commonly allow as many. */
const MAX_STREAMS = 100;

/**
 * ECON's HTTP/2: one connection, all requests at once up to the limit of streams, responses one after the
 * other within its window, the more urgent first.
 */
export class Http2Connection {
  readonly #opening: Opening;
  readonly #waiting: Request[] = [];
  #connection: ModelledConnection | null = null;
  #opened = false;
  #streams = 0;

  /** @param warm whether it is open from the start */
  constructor(opening: Opening, warm: boolean) {
    this.#opening = opening;
    if (warm) {
      this.#opened = true;
      this.#connection = opening.open();
    }
  }

  request(request: Request): void {
    this.#waiting.push(request);
    if (!this.#opened) {
      this.#opened = true;
      const { agenda, handshakeMs, open } = this.#opening;
      agenda.at(agenda.nowMs + handshakeMs, () => {
        this.#connection = open();
        this.#start();
      });
    }
    this.#start();
  }

  release(_transfer: Transfer): void {
    this.#streams--;
    this.#start();
  }

  #start(): void {
    const connection = this.#connection;
    const { agenda } = this.#opening;
    while (connection && this.#streams < MAX_STREAMS && this.#waiting.length > 0) {
      this.#streams++;
      const { transfer, thinkMs, onAssigned } = this.#waiting.shift()!;
      onAssigned(connection);
      agenda.at(agenda.nowMs + thinkMs, () => connection.respond(transfer));
    }
  }
}
