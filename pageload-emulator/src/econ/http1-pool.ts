import { MAX_CONNECTIONS_PER_HOST } from '@hopwise/contract';
import type { Agenda } from './agenda.ts';
import type { ModelledConnection } from './connection.ts';
import type { Transfer } from './transfer.ts';

/** How an origin's connections come to be. */
export interface Opening {
  agenda: Agenda;
  /** Round trips of a handshake, in time. */
  handshakeMs: number;
  open(): ModelledConnection;
}

/** A request: its response, and the server's time for it. */
export interface Request {
  transfer: Transfer;
  thinkMs: number;
  /** Is called when a connection takes the request. */
  onAssigned(connection: ModelledConnection): void;
}

/**
 * ECON's HTTP/1.1: up to six connections to a host, one response at a time on each, the next request when the last
 * response has arrived whole. A request that finds no idle connection opens another one and takes the first that is ready.
 */
export class Http1Pool {
  readonly #opening: Opening;
  readonly #idle: ModelledConnection[] = [];
  readonly #waiting: Request[] = [];
  readonly #busy = new Map<Transfer, ModelledConnection>();
  #connections = 0;
  #connecting = 0;

  /** @param warm connections that are open and idle from the start */
  constructor(opening: Opening, warm: number) {
    this.#opening = opening;
    for (; this.#connections < Math.min(warm, MAX_CONNECTIONS_PER_HOST); this.#connections++) {
      this.#idle.push(opening.open());
    }
  }

  request(request: Request): void {
    const behind = this.#waiting.findIndex(({ transfer }) => transfer.urgency > request.transfer.urgency);
    this.#waiting.splice(behind < 0 ? this.#waiting.length : behind, 0, request);
    this.#assign();
    while (this.#connections < MAX_CONNECTIONS_PER_HOST && this.#connecting < this.#waiting.length)
      this.#connect();
  }

  /** Must be called when a response has arrived whole. */
  release(transfer: Transfer): void {
    this.#idle.push(this.#busy.get(transfer)!);
    this.#busy.delete(transfer);
    this.#assign();
  }

  #connect(): void {
    const { agenda, handshakeMs, open } = this.#opening;
    this.#connections++;
    this.#connecting++;
    agenda.at(agenda.nowMs + handshakeMs, () => {
      this.#connecting--;
      this.#idle.push(open());
      this.#assign();
    });
  }

  #assign(): void {
    const { agenda } = this.#opening;
    while (this.#idle.length > 0 && this.#waiting.length > 0) {
      // The one with the largest window: used last.
      this.#idle.sort((a, b) => a.segments - b.segments);
      const connection = this.#idle.pop()!;
      const { transfer, thinkMs, onAssigned } = this.#waiting.shift()!;
      this.#busy.set(transfer, connection);
      onAssigned(connection);
      agenda.at(agenda.nowMs + thinkMs, () => connection.respond(transfer));
    }
  }
}
