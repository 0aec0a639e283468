import type { EventHandler, EventQueue } from '../transport/event-queue.ts';
import type { Stream } from '../transport/stream.ts';
import { emptyCounters, type OriginClient, type OriginCounters } from './origin-client.ts';
import type { Session } from './session.ts';

/** Provides connections to a multiplexed origin. */
interface SessionSource {
  /** Resolves the host's name; returns how long that takes, milliseconds. */
  resolve(): number;
  /** An open connection of another origin that this one may share, or null; the name must be resolved. */
  shared(): Session | null;
  /** Creates a connection. */
  create(onOpen: () => void): Session;
}

const RESOLVED = 0;

/** Client of an origin over HTTP/2 or HTTP/3: one connection, its own or shared with other origins. */
export class Multiplexed implements OriginClient, EventHandler {
  readonly #events: EventQueue;
  readonly #source: SessionSource;
  readonly #mayShare: boolean;
  readonly #onOpen: () => void;
  readonly #counters = emptyCounters();
  #session: Session | null = null;
  #own = false;
  #resolving = false;
  /** Requests that wait for the name to be resolved. */
  #waiting: Stream[] = [];

  /**
   * @param mayShare whether connections of other origins may serve it, which is known once its name is resolved
   * @param onOpen called when requests may go
   */
  constructor(
    events: EventQueue,
    source: SessionSource,
    mayShare: boolean,
    onOpen: (() => void) | null = null,
  ) {
    this.#events = events;
    this.#source = source;
    this.#mayShare = mayShare;
    this.#onOpen = onOpen ?? (() => {});
  }

  get open(): boolean {
    return this.#session?.open ?? false;
  }

  connect(): void {
    if (this.#session !== null || this.#resolving) return;
    if (!this.#mayShare) {
      this.#begin();
      return;
    }
    const lookupMs = this.#source.resolve();
    if (lookupMs > 0) {
      this.#resolving = true;
      this.#events.scheduleRare(this.#events.now + lookupMs, this, RESOLVED);
    } else {
      this.#join();
    }
  }

  fetch(stream: Stream): void {
    this.#counters.requests++;
    this.connect();
    if (this.#session === null) this.#waiting.push(stream);
    else this.#session.fetch(stream, this.#counters);
  }

  done(): void {
    this.#session!.done();
  }

  counters(): OriginCounters {
    const counters = { ...this.#counters };
    return this.#own ? this.#session!.addCounters(counters) : counters;
  }

  handle(): void {
    this.#resolving = false;
    this.#join();
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const stream of waiting) this.#session!.fetch(stream, this.#counters);
  }

  #join(): void {
    this.#session = this.#source.shared();
    if (this.#session === null) this.#begin();
    else this.#onOpen();
  }

  #begin(): void {
    this.#own = true;
    this.#counters.connections++;
    this.#session = this.#source.create(this.#onOpen);
    this.#session.connect();
  }
}
