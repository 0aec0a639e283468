/** The easy handles of exchanges. After a success they are reused, as setting one up costs as much as a request. */

import {
  DEBUG_TEXT,
  HTTP_VERSION,
  OPT,
  PREREQ,
  SEEK,
  SINCE_TCP_KEEPCNT,
  SOCKET_BAD,
} from '../curl/curl-constants.ts';
import {
  type Callbacks,
  CONNECT_TIMEOUT_MS,
  ERROR_TEXT_BYTES,
  type NameChecks,
  setCallbacks,
  setCommonOptions,
} from '../curl/easy-options.ts';
import type { Libcurl, Pointer } from '../curl/libcurl.ts';
import type { NativeMemory } from '../curl/native-memory.ts';
import { type ExchangeOrder, isTraced } from './exchange-order.ts';
import type { KeepAlive } from './hung-connections.ts';

/** What libcurl's callbacks require of an exchange. libcurl must not be re-entered from them. */
export interface EasyHandleListener {
  /** @returns the number of bytes taken, or `WRITE_PAUSE`. */
  onBody(data: Pointer, bytes: number): number;
  /** @returns false to end the transfer. */
  onHeader(line: string): boolean;
  /** @returns the number of bytes written to `target`, or `READ_PAUSE`. */
  onRead(target: Pointer, room: number): number;
  /** @returns one of `SEEK`. */
  onSeek(offset: number): number;
  /** @returns the socket for a connection to a `struct curl_sockaddr`, or `SOCKET_BAD`. */
  onOpenSocket(address: Pointer): number;
  /** @returns one of `PREREQ`. */
  onConnected(): number;
  /** A line of libcurl's trace, of requests whose trace is on. */
  onTrace(line: string): void;
}

export interface EasyHandle {
  readonly easy: Pointer;
  /** Buffer for libcurl's error message. */
  readonly errorText: Pointer;
  /** Key of the exchanges that can reuse it; '' for none. */
  readonly kind: string;
  readonly number: number;
  readonly connectTo: Pointer | null;
  /** The field lines of `headerList`, which libcurl does not copy. */
  fieldLines: string;
  headerList: Pointer | null;
  /** The last value of `CONNECTTIMEOUT_MS`. */
  connectLimitMs: number;
}

interface EasyHandlesOptions {
  curl: Libcurl;
  names: NameChecks;
  /** The only limit on an exchange's silence: streams of server-sent events may be silent for any time. */
  keepAlive: KeepAlive;
  memory: NativeMemory;
  onFault: (fault: Error) => void;
}

/**
 * Only HTTP/2 is offered in the handshake: if HTTP/1.1 were too, the origin could choose it, and
 * the request would be sent before that is noticed.
 */
const PINNED_VERSION = {
  h1: HTTP_VERSION.V1_1,
  h2: HTTP_VERSION.V2_PRIOR_KNOWLEDGE,
  h3: HTTP_VERSION.V3ONLY,
} as const;

/** Handles that wait for their next exchange; each takes some 10 kB. */
const MAX_IDLE_HANDLES = 64;

/** libcurl accepts response header lines of up to 100 kB; less on HTTP/2 and HTTP/3. */
const MAX_LINE_BYTES = 300 * 1024;

/** What `NOT_PROCESSED` looks for is at the beginning of a line. */
const MAX_TRACE_BYTES = 128;

export class EasyHandles {
  readonly #curl: Libcurl;
  readonly #names: NameChecks;
  readonly #keepAlive: KeepAlive;
  readonly #callbacks: Callbacks;
  readonly #users = new Map<number, EasyHandleListener>();
  /** Most recently used last. */
  readonly #idle: EasyHandle[] = [];
  #nextNumber = 1;

  constructor(options: EasyHandlesOptions) {
    this.#curl = options.curl;
    this.#names = options.names;
    this.#keepAlive = options.keepAlive;
    this.#callbacks = this.#register(options);
    options.curl.trace('http/2,http/3');
  }

  /**
   * A handle that is set up for the request.
   *
   * @throws Error when libcurl refuses the request.
   */
  take(order: ExchangeOrder, user: EasyHandleListener): EasyHandle {
    const kind = kindOf(order);
    const at = this.#idle.findLastIndex((handle) => handle.kind === kind);
    const [handle = this.#create(order, kind)] = at < 0 ? [] : this.#idle.splice(at, 1);
    this.#users.set(handle.number, user);
    try {
      this.#curl.setText(handle.easy, OPT.REQUEST_TARGET, order.target);
      this.#setHeader(handle, order.fieldLines);
      if (isTraced(order)) this.#curl.setLong(handle.easy, OPT.VERBOSE, 1);
    } catch (fault) {
      this.discard(handle);
      throw fault;
    }
    return handle;
  }

  /** Keeps a handle whose exchange has succeeded, and which has been removed from its multi handle. */
  giveBack(handle: EasyHandle): void {
    if (handle.kind === '') {
      this.discard(handle);
      return;
    }
    this.#users.delete(handle.number);
    this.#idle.push(handle);
    if (this.#idle.length > MAX_IDLE_HANDLES) this.discard(this.#idle.shift()!);
  }

  /** Frees a handle that has been removed from its multi handle. */
  discard(handle: EasyHandle): void {
    const curl = this.#curl;
    this.#users.delete(handle.number);
    curl.easyCleanup(handle.easy);
    curl.freeList(handle.headerList);
    curl.freeList(handle.connectTo);
    curl.free(handle.errorText);
  }

  #create(order: ExchangeOrder, kind: string): EasyHandle {
    const curl = this.#curl;
    const handle: EasyHandle = {
      easy: curl.easyInit(),
      errorText: curl.allocText(ERROR_TEXT_BYTES),
      kind,
      number: this.#nextNumber++,
      connectTo: order.connectTo ? curl.list([order.connectTo]) : null,
      fieldLines: '',
      connectLimitMs: 0,
      headerList: null,
    };
    try {
      this.#setUp(handle, order);
    } catch (fault) {
      this.discard(handle);
      throw fault;
    }
    return handle;
  }

  limitConnecting(handle: EasyHandle, limitMs: number): void {
    if (limitMs === handle.connectLimitMs) return;
    handle.connectLimitMs = limitMs;
    this.#curl.setLong(handle.easy, OPT.CONNECTTIMEOUT_MS, limitMs);
  }

  #setUp(handle: EasyHandle, order: ExchangeOrder): void {
    const { easy, errorText, number, connectTo } = handle;
    const curl = this.#curl;
    const { protocol, method, origin, body } = order;
    setCommonOptions(curl, easy, this.#names);
    curl.setPointer(easy, OPT.ERRORBUFFER, errorText);
    curl.setText(easy, OPT.URL, origin);
    curl.setLong(easy, OPT.HTTP_VERSION, PINNED_VERSION[protocol]);
    this.limitConnecting(handle, CONNECT_TIMEOUT_MS[protocol]);
    if (protocol !== 'h3') this.#setKeepAlive(easy);
    if (body !== 'none') {
      curl.setLong(easy, OPT.UPLOAD, 1);
      // -1: chunked on HTTP/1.1, to the end of the stream on the others.
      curl.setOffset(easy, OPT.INFILESIZE_LARGE, body === 'unknown' ? -1 : body);
    } else if (method === 'HEAD') curl.setLong(easy, OPT.NOBODY, 1);
    else curl.setLong(easy, OPT.HTTPGET, 1);
    if (body !== 'none' || (method !== 'HEAD' && method !== 'GET')) {
      curl.setText(easy, OPT.CUSTOMREQUEST, method);
    }
    if (connectTo) curl.setPointer(easy, OPT.CONNECT_TO, connectTo);
    const { READ: _read, SEEK: _seek, ...always } = this.#callbacks;
    setCallbacks(curl, easy, body === 'none' ? always : this.#callbacks, number);
  }

  #setKeepAlive(easy: Pointer): void {
    const curl = this.#curl;
    const { idleS, intervalS, count } = this.#keepAlive;
    curl.setLong(easy, OPT.TCP_KEEPALIVE, 1);
    curl.setLong(easy, OPT.TCP_KEEPIDLE, idleS);
    curl.setLong(easy, OPT.TCP_KEEPINTVL, intervalS);
    if (curl.version.number >= SINCE_TCP_KEEPCNT) curl.setLong(easy, OPT.TCP_KEEPCNT, count);
  }

  /** Many requests of a page have the same fields: the list is reused. */
  #setHeader(handle: EasyHandle, fieldLines: string): void {
    if (handle.headerList && fieldLines === handle.fieldLines) return;
    const curl = this.#curl;
    const former = handle.headerList;
    handle.headerList = curl.list(headerLines(fieldLines));
    handle.fieldLines = fieldLines;
    curl.setPointer(handle.easy, OPT.HTTPHEADER, handle.headerList);
    curl.freeList(former);
  }

  #register({ curl, memory, onFault }: EasyHandlesOptions): Callbacks {
    const users = this.#users;
    const line = Buffer.alloc(MAX_LINE_BYTES);
    return {
      WRITE: curl.callback('data', onFault, (data, size, count, number) => {
        const bytes = Number(size) * Number(count);
        return users.get(Number(number))?.onBody(data, bytes) ?? 0;
      }),
      HEADER: curl.callback('data', onFault, (data, size, count, number) => {
        const bytes = Number(size) * Number(count);
        const user = users.get(Number(number));
        // Any number but the one received ends the transfer.
        if (!user || bytes > MAX_LINE_BYTES) return 0;
        memory.read(data, line.subarray(0, bytes));
        return user.onHeader(line.toString('latin1', 0, bytes)) ? bytes : 0;
      }),
      READ: curl.callback('data', onFault, (target, size, count, number) => {
        return users.get(Number(number))?.onRead(target, Number(size) * Number(count)) ?? 0;
      }),
      SEEK: curl.callback('seek', onFault, (number, offset) => {
        return users.get(Number(number))?.onSeek(Number(offset)) ?? SEEK.FAIL;
      }),
      DEBUG: curl.callback('debug', onFault, (_easy, kind, data, size, number) => {
        if (kind !== DEBUG_TEXT) return 0;
        const text = line.subarray(0, Math.min(Number(size), MAX_TRACE_BYTES));
        memory.read(data, text);
        users.get(Number(number))?.onTrace(text.toString('latin1'));
        return 0;
      }),
      OPENSOCKET: curl.callback(
        'opensocket',
        onFault,
        (number, _purpose, address) => users.get(Number(number))?.onOpenSocket(address) ?? SOCKET_BAD,
        SOCKET_BAD,
      ),
      PREREQ: curl.callback('prereq', onFault, (number) => {
        return users.get(Number(number))?.onConnected() ?? PREREQ.ABORT;
      }),
    };
  }
}

/** '' for an upload, whose handle is not reused: its read position must not be carried over. */
function kindOf({ protocol, method, origin, body, connectTo }: ExchangeOrder): string {
  return body === 'none' ? `${protocol} ${method} ${origin} ${connectTo}` : '';
}

/** A line without a value removes a field that libcurl would add. */
function headerLines(fieldLines: string): string[] {
  const lines = fieldLines === '' ? [] : fieldLines.split('\n');
  const given = new Set(lines.map((line) => line.slice(0, line.search(/[:;]/)).toLowerCase()));
  const removed = ADDED_BY_LIBCURL.filter((name) => !given.has(name)).map((name) => `${name}:`);
  return [...removed, ...lines];
}

const ADDED_BY_LIBCURL = ['accept', 'expect', 'user-agent'];
