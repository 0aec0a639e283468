import type { NetLogEvent } from './netlog-events.ts';

/** How a connection was opened: times on the log's clock, milliseconds; null where the log does not tell. */
export interface NetLogConnection {
  id: number;
  /** When its host's name was asked for, or looked up in a cache. */
  resolvedFromMs: number | null;
  openedFromMs: number | null;
  /** When TLS began; with QUIC, as the connection did. */
  securedFromMs: number | null;
  /** When requests could leave, but for early data. */
  readyMs: number | null;
  /** The server's address with its port; null where the log does not name it. */
  endpoint: string | null;
}

/** Finds the connections of a NetLog: TCP sockets, and QUIC sessions. */
export class NetLogConnections {
  readonly #byId = new Map<number, NetLogConnection>();
  /** When the work for a connection began, by what did it. */
  readonly #jobMs = new Map<number, number>();
  /** Sockets of HTTP/2 sessions. */
  readonly #sockets = new Map<number, number>();
  /** The socket or HTTP/2 session that each job found. */
  readonly #found = new Map<number, number>();

  constructor(events: readonly NetLogEvent[]) {
    for (const event of events) this.#note(event);
  }

  /**
   * Finds the connection that a request got.
   *
   * @param id of a socket, a session, or a step on the request's way to one
   */
  find(id: number | null): NetLogConnection | null {
    if (id === null) return null;
    const found = this.#found.get(id) ?? id;
    return this.#byId.get(this.#sockets.get(found) ?? found) ?? null;
  }

  #note({ name, ms, phase, sourceId, params }: NetLogEvent): void {
    const other = params.source_dependency?.id;
    switch (name) {
      case 'CONNECT_JOB':
      case 'QUIC_SESSION_POOL_JOB':
        if (phase === 'begin') this.#jobMs.set(sourceId, ms);
        break;
      case 'SOCKET_ALIVE':
        if (phase === 'begin' && other !== undefined) this.#setResolving(sourceId, other);
        break;
      case 'QUIC_SESSION_POOL_JOB_RESULT':
        if (other !== undefined) this.#setResolving(other, sourceId);
        break;
      case 'TCP_CONNECT':
        if (phase === 'begin') this.#connection(sourceId).openedFromMs = ms;
        else this.#endTcp(sourceId, ms, params.remote_address ?? null);
        break;
      case 'SSL_CONNECT':
        if (phase === 'begin') this.#connection(sourceId).securedFromMs = ms;
        else this.#connection(sourceId).readyMs = ms;
        break;
      case 'QUIC_SESSION':
        if (phase === 'begin')
          Object.assign(this.#connection(sourceId), { openedFromMs: ms, securedFromMs: ms });
        break;
      case 'QUIC_SESSION_CRYPTO_HANDSHAKE_COMPLETE':
        this.#connection(sourceId).readyMs ??= ms;
        break;
      case 'HTTP2_SESSION_INITIALIZED':
        if (other !== undefined) this.#sockets.set(sourceId, other);
        break;
      case 'SOCKET_POOL_BOUND_TO_SOCKET':
      case 'HTTP2_SESSION_POOL_FOUND_EXISTING_SESSION':
      case 'HTTP2_SESSION_POOL_IMPORTED_SESSION_FROM_SOCKET':
        if (other !== undefined) this.#found.set(sourceId, other);
        break;
    }
  }

  #connection(id: number): NetLogConnection {
    const known = this.#byId.get(id);
    if (known) return known;
    const unknown = { resolvedFromMs: null, openedFromMs: null, securedFromMs: null };
    const connection = { id, ...unknown, readyMs: null, endpoint: null };
    this.#byId.set(id, connection);
    return connection;
  }

  #setResolving(id: number, job: number): void {
    this.#connection(id).resolvedFromMs ??= this.#jobMs.get(job) ?? null;
  }

  /** Without TLS requests leave from then on. */
  #endTcp(id: number, ms: number, address: string | null): void {
    const connection = this.#connection(id);
    connection.readyMs = ms;
    connection.endpoint = address;
  }
}
