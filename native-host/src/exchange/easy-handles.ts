/** The easy handles of exchanges: one that has done well is used again, as setting one up costs as much as a request. */

import { guarded } from '../curl/callback-guard.ts';
import { DEBUG_TEXT, HTTP_VERSION, OPT, PREREQ, SEEK, SINCE_TCP_KEEPCNT } from '../curl/curl-constants.ts';
import { ERROR_TEXT_BYTES, setCommonOptions } from '../curl/easy-options.ts';
import type { Libcurl, Pointer } from '../curl/libcurl.ts';
import type { NativeMemory } from '../curl/native-memory.ts';
import { type ExchangeOrder, isTraced } from './exchange-order.ts';
import type { KeepAlive } from './hung-connections.ts';

/** What libcurl asks of an exchange, in the middle of its own work. */
export interface EasyAsked {
  /** @returns how many bytes were taken, or `WRITE_PAUSE`. */
  onBody(data: Pointer, bytes: number): number;
  /** @returns false to end the transfer. */
  onHeader(line: string): boolean;
  /** @returns how many bytes were given, or `READ_PAUSE`. */
  onRead(target: Pointer, room: number): number;
  /** @returns one of `SEEK`. */
  onSeek(offset: number): number;
  /** @returns one of `PREREQ`. */
  onConnected(): number;
  /** What libcurl says of its work on a request that is traced. */
  onWords(words: string): void;
}

export interface EasyHandle {
  readonly easy: Pointer;
  /** libcurl's words about what went wrong. */
  readonly errorText: Pointer;
  /** The exchanges that it can be used for. */
  readonly kind: string;
  readonly number: number;
  readonly connectTo: Pointer | null;
  /** What it was given last of the order's field lines; libcurl keeps no copy of the list. */
  fieldLines: string;
  headerList: Pointer | null;
  /** How long it may take to come onto a connection, as libcurl was told last. */
  connectLimitMs: number;
}

/** Registered once; every handle carries its number. */
type EasyCallbacks = Record<'write' | 'header' | 'read' | 'seek' | 'prereq' | 'debug', Pointer>;

export interface EasyHandlesOptions {
  curl: Libcurl;
  caFile: string;
  /** There is no other limit on an exchange's silence: server-sent events may be silent for as long as they like. */
  keepAlive: KeepAlive;
  memory: NativeMemory;
  onFault: (fault: Error) => void;
}

/**
 * HTTP/2 alone is offered in the handshake: with HTTP/1.1 beside it an origin could choose that, and
 * the request would be out before it is seen.
 */
const PINNED_VERSION = {
  h1: HTTP_VERSION.V1_1,
  h2: HTTP_VERSION.V2_PRIOR_KNOWLEDGE,
  h3: HTTP_VERSION.V3ONLY,
} as const;

/** Time for three SYNs (1, 2 and 4 s apart) over a long path; as short on HTTP/3 as the page can wait for a fallback. */
export const CONNECT_TIMEOUT_MS = { h1: 10_000, h2: 10_000, h3: 5_000 } as const;

/** Handles that wait for their next exchange; each is some 10 kB. */
const IDLE_HANDLES = 64;

/** libcurl takes no response header line above 100 kB; on HTTP/2 and HTTP/3 not even so much. */
const LONGEST_LINE_BYTES = 300 * 1024;

/** What is looked for in libcurl's words stands at their beginning. */
const LONGEST_WORDS_BYTES = 128;

export class EasyHandles {
  readonly #curl: Libcurl;
  readonly #caFile: string;
  readonly #keepAlive: KeepAlive;
  readonly #callbacks: EasyCallbacks;
  readonly #users = new Map<number, EasyAsked>();
  /** The one used last is the last. */
  readonly #idle: EasyHandle[] = [];
  #nextNumber = 1;

  constructor(options: EasyHandlesOptions) {
    this.#curl = options.curl;
    this.#caFile = options.caFile;
    this.#keepAlive = options.keepAlive;
    this.#callbacks = this.#registered(options);
    options.curl.trace('http/2,http/3');
  }

  /**
   * A handle that is set up for the request.
   *
   * @throws Error when libcurl refuses the request.
   */
  take(order: ExchangeOrder, user: EasyAsked): EasyHandle {
    const kind = kindOf(order);
    const at = this.#idle.findLastIndex((handle) => handle.kind === kind);
    const [handle = this.#made(order, kind)] = at < 0 ? [] : this.#idle.splice(at, 1);
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

  /** A handle whose exchange has ended as it should, and that has left its multi handle. */
  giveBack(handle: EasyHandle): void {
    if (handle.kind === '') {
      this.discard(handle);
      return;
    }
    this.#users.delete(handle.number);
    this.#idle.push(handle);
    if (this.#idle.length > IDLE_HANDLES) this.discard(this.#idle.shift()!);
  }

  /** The handle has left its multi handle. */
  discard(handle: EasyHandle): void {
    const curl = this.#curl;
    this.#users.delete(handle.number);
    curl.easyCleanup(handle.easy);
    curl.freeList(handle.headerList);
    curl.freeList(handle.connectTo);
    curl.free(handle.errorText);
  }

  #made(order: ExchangeOrder, kind: string): EasyHandle {
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
    const callbacks = this.#callbacks;
    const { protocol, method, origin, body } = order;
    setCommonOptions(curl, easy, this.#caFile);
    curl.setPointer(easy, OPT.ERRORBUFFER, errorText);
    curl.setText(easy, OPT.URL, origin);
    curl.setLong(easy, OPT.HTTP_VERSION, PINNED_VERSION[protocol]);
    this.limitConnecting(handle, CONNECT_TIMEOUT_MS[protocol]);
    if (protocol !== 'h3') this.#keepAliveOf(easy);
    if (body !== 'none') {
      curl.setLong(easy, OPT.UPLOAD, 1);
      // -1: chunked on HTTP/1.1, to the end of the stream on the others.
      curl.setOffset(easy, OPT.INFILESIZE_LARGE, body === 'unknown' ? -1 : body);
      curl.setPointer(easy, OPT.READFUNCTION, callbacks.read);
      curl.setId(easy, OPT.READDATA, number);
      curl.setPointer(easy, OPT.SEEKFUNCTION, callbacks.seek);
      curl.setId(easy, OPT.SEEKDATA, number);
    } else if (method === 'HEAD') curl.setLong(easy, OPT.NOBODY, 1);
    else curl.setLong(easy, OPT.HTTPGET, 1);
    if (body !== 'none' || (method !== 'HEAD' && method !== 'GET')) {
      curl.setText(easy, OPT.CUSTOMREQUEST, method);
    }
    if (connectTo) curl.setPointer(easy, OPT.CONNECT_TO, connectTo);
    curl.setPointer(easy, OPT.WRITEFUNCTION, callbacks.write);
    curl.setId(easy, OPT.WRITEDATA, number);
    curl.setPointer(easy, OPT.HEADERFUNCTION, callbacks.header);
    curl.setId(easy, OPT.HEADERDATA, number);
    if (isTraced(order)) {
      curl.setPointer(easy, OPT.DEBUGFUNCTION, callbacks.debug);
      curl.setId(easy, OPT.DEBUGDATA, number);
    }
    curl.setPointer(easy, OPT.PREREQFUNCTION, callbacks.prereq);
    curl.setId(easy, OPT.PREREQDATA, number);
  }

  #keepAliveOf(easy: Pointer): void {
    const curl = this.#curl;
    const { idleS, intervalS, count } = this.#keepAlive;
    curl.setLong(easy, OPT.TCP_KEEPALIVE, 1);
    curl.setLong(easy, OPT.TCP_KEEPIDLE, idleS);
    curl.setLong(easy, OPT.TCP_KEEPINTVL, intervalS);
    if (curl.version.number >= SINCE_TCP_KEEPCNT) curl.setLong(easy, OPT.TCP_KEEPCNT, count);
  }

  /** Many requests of a page have the same fields. */
  #setHeader(handle: EasyHandle, fieldLines: string): void {
    if (handle.headerList && fieldLines === handle.fieldLines) return;
    const curl = this.#curl;
    const former = handle.headerList;
    handle.headerList = curl.list(headerLines(fieldLines));
    handle.fieldLines = fieldLines;
    curl.setPointer(handle.easy, OPT.HTTPHEADER, handle.headerList);
    curl.freeList(former);
  }

  #registered({ curl, memory, onFault }: EasyHandlesOptions): EasyCallbacks {
    const users = this.#users;
    const line = Buffer.alloc(LONGEST_LINE_BYTES);
    return {
      write: curl.dataCallback(
        guarded(onFault, (data, size, count, number) => {
          const bytes = Number(size) * Number(count);
          return users.get(Number(number))?.onBody(data, bytes) ?? 0;
        }),
      ),
      header: curl.dataCallback(
        guarded(onFault, (data, size, count, number) => {
          const bytes = Number(size) * Number(count);
          const user = users.get(Number(number));
          // Any other number than the one received ends the transfer.
          if (!user || bytes > LONGEST_LINE_BYTES) return 0;
          memory.read(data, line.subarray(0, bytes));
          return user.onHeader(line.toString('latin1', 0, bytes)) ? bytes : 0;
        }),
      ),
      read: curl.dataCallback(
        guarded(onFault, (target, size, count, number) => {
          return users.get(Number(number))?.onRead(target, Number(size) * Number(count)) ?? 0;
        }),
      ),
      seek: curl.seekCallback(
        guarded(onFault, (number, offset) => users.get(Number(number))?.onSeek(Number(offset)) ?? SEEK.FAIL),
      ),
      debug: curl.debugCallback(
        guarded(onFault, (_easy, kind, data, size, number) => {
          if (kind !== DEBUG_TEXT) return 0;
          const words = line.subarray(0, Math.min(Number(size), LONGEST_WORDS_BYTES));
          memory.read(data, words);
          users.get(Number(number))?.onWords(words.toString('latin1'));
          return 0;
        }),
      ),
      prereq: curl.prereqCallback(
        guarded(onFault, (number) => users.get(Number(number))?.onConnected() ?? PREREQ.ABORT),
      ),
    };
  }
}

/** '' for an upload, whose handle is not used again: how far it came is not to be carried over. */
function kindOf({ protocol, method, origin, body, connectTo }: ExchangeOrder): string {
  return body === 'none' ? `${protocol} ${method} ${origin} ${connectTo}` : '';
}

/** A line without a value takes out what libcurl would say by itself. */
function headerLines(fieldLines: string): string[] {
  const lines = fieldLines === '' ? [] : fieldLines.split('\n');
  const given = new Set(lines.map((line) => line.slice(0, line.search(/[:;]/)).toLowerCase()));
  const silenced = OF_LIBCURL.filter((name) => !given.has(name)).map((name) => `${name}:`);
  return [...silenced, ...lines];
}

const OF_LIBCURL = ['accept', 'expect', 'user-agent'];
