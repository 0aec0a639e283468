import type { Header } from '../har/header-list.ts';
import { timingsOf } from '../trace/trace-timings.ts';
import type { NetLogConnection, NetLogConnections } from './netlog-connections.ts';
import type { NetLogEvent } from './netlog-events.ts';
import type { NetLogHop } from './netlog-hops.ts';

/** DevTools' names of the priorities that Chromium's pages give their requests, by those of its network stack. */
const PRIORITIES = new Map([
  ['HIGHEST', 'VeryHigh'],
  ['MEDIUM', 'High'],
  ['LOW', 'Medium'],
  ['LOWEST', 'Low'],
  ['IDLE', 'VeryLow'],
  ['THROTTLED', 'VeryLow'],
]);

/** Writes hops of a NetLog as entries of a HAR. */
export class EntryWriter {
  readonly #connections: NetLogConnections;
  readonly #errors: ReadonlyMap<number, string>;
  /** The first hop on each connection, which waited for it to be opened. */
  readonly #firsts = new Map<NetLogConnection, NetLogHop>();
  /** Bytes of bodies by QUIC session and stream. */
  readonly #streamBytes = new Map<string, number>();

  constructor(
    events: readonly NetLogEvent[],
    hops: readonly NetLogHop[],
    connections: NetLogConnections,
    { errors }: { errors: ReadonlyMap<number, string> },
  ) {
    this.#connections = connections;
    this.#errors = errors;
    for (const { name, sourceId, params } of events) {
      if (name !== 'HTTP3_DATA_FRAME_RECEIVED') continue;
      const stream = `${sourceId} ${params.stream_id}`;
      this.#streamBytes.set(stream, (this.#streamBytes.get(stream) ?? 0) + (params.payload_length ?? 0));
    }
    const connected = hops.filter(({ connectedMs }) => connectedMs !== null);
    for (const hop of connected.toSorted((a, b) => a.connectedMs! - b.connectedMs!)) {
      const connection = this.#connections.find(hop.connectionId);
      if (connection !== null && !this.#firsts.has(connection)) this.#firsts.set(connection, hop);
    }
  }

  /** Writes a hop as an entry of a HAR, but for its page and its date. */
  write(hop: NetLogHop): object {
    const { method, url, priority, sentMs, isForNetwork, requestHeaders, endpoint } = hop;
    const connection = sentMs === null ? null : this.#connections.find(hop.connectionId);
    return {
      ...this.#timings(hop, connection),
      request: { method, url, headers: requestHeaders.flatMap(headerOf) },
      response: this.#response(hop),
      ...(sentMs === null && !isForNetwork && this.#errorOf(hop) === null && { _fromCache: 'disk' }),
      ...(connection && { _connectionId: connection.id }),
      serverIPAddress: addressOf(connection?.endpoint ?? endpoint ?? ''),
      _priority: PRIORITIES.get(priority ?? ''),
    };
  }

  #timings(hop: NetLogHop, connection: NetLogConnection | null): object {
    const { issuedMs, sentFromMs, sentMs, answeredMs, readMs, closedMs, next } = hop;
    const endMs = next === null ? (readMs ?? answeredMs ?? closedMs) : closedMs;
    if (sentFromMs === null || sentMs === null) return timingsOf(null, issuedMs, endMs);
    const after = (ms: number | null) => (ms === null ? null : Math.max(0, ms - issuedMs));
    const opening = this.#opening(hop, connection);
    // Early data: requests leave before the handshake has ended.
    const readyMs = opening && Math.min(opening.readyMs ?? sentFromMs, sentFromMs);
    const answered = after(answeredMs ?? endMs);
    return timingsOf(
      {
        requestTime: issuedMs / 1_000,
        ...(opening && {
          dnsStart: after(opening.resolvedFromMs),
          dnsEnd: after(opening.openedFromMs),
          connectStart: after(opening.openedFromMs),
          connectEnd: after(readyMs),
          sslStart: after(opening.securedFromMs),
          sslEnd: opening.securedFromMs === null ? null : after(readyMs),
        }),
        sendStart: sentFromMs - issuedMs,
        sendEnd: sentMs - issuedMs,
        receiveHeadersStart: answered,
        receiveHeadersEnd: answered,
      },
      issuedMs,
      endMs,
    );
  }

  /**
   * The connection that was opened for a hop; null where it was open, or had begun to be opened before: what is left of a handshake is no
   * round trip.
   */
  #opening(hop: NetLogHop, connection: NetLogConnection | null): NetLogConnection | null {
    if (connection === null || this.#firsts.get(connection) !== hop) return null;
    const beganMs = connection.resolvedFromMs ?? connection.openedFromMs;
    return beganMs !== null && beganMs >= hop.issuedMs ? connection : null;
  }

  #response(hop: NetLogHop): object {
    const { status, next, sentMs, protocol, responseHeaders, decodedBytes } = hop;
    const error = this.#errorOf(hop);
    if (error !== null) return { status: 0, _error: error };
    // The browser itself turned `http:` to `https:`, or has kept the redirect.
    if (sentMs === null && next !== null)
      return { status: 307, statusText: 'Internal Redirect', redirectURL: next.url };
    if (sentMs === null && hop.isForNetwork) return { status: 0, _error: 'the log ends before' };
    const headers = responseHeaders.flatMap(headerOf);
    return {
      status: sentMs === null ? 200 : (status ?? 0),
      ...(next && { redirectURL: next.url }),
      httpVersion: protocol,
      headers,
      headersSize: -1,
      bodySize: this.#bodyBytesOf(hop),
      content: {
        size: decodedBytes > 0 ? decodedBytes : -1,
        mimeType:
          headers
            .find(({ name }) => name === 'content-type')
            ?.value.replace(/;.*/, '')
            .trim() ?? '',
      },
    };
  }

  /** −1 where the log does not tell: of HTTP/1.1, what `Content-Length` says is read as in any HAR. */
  #bodyBytesOf({ protocol, connectionId, streamId, bodyBytes }: NetLogHop): number {
    if (protocol === 'h2') return bodyBytes;
    if (protocol === 'h3') return this.#streamBytes.get(`${connectionId} ${streamId}`) ?? 0;
    return -1;
  }

  /** Chromium's name of the error because of which there is no answer; null where there is one, or none was awaited. */
  #errorOf({ error, answeredMs, next }: NetLogHop): string | null {
    if (error === null || answeredMs !== null || next !== null) return null;
    return `net::${this.#errors.get(error) ?? error}`;
  }
}

/** An address without its port. */
const addressOf = (endpoint: string): string => endpoint.replace(/:\d+$/, '');

/** A line of headers; none for what is no header. Names of HTTP/2 begin with a colon. */
function headerOf(line: string): (Header & { value: string })[] {
  const [, name, value = ''] = /^(:?[^:]+):\s*(.*)$/s.exec(line) ?? [];
  return name === undefined ? [] : [{ name: name.toLowerCase(), value }];
}
