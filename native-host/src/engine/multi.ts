/** One multi handle: transfers under one protocol, driven by Node's event loop. */

import type { Protocol } from '@hopwise/native-host/messages';
import koffi, { type node } from 'koffi';
import { type AddressSpace, addressSpace, mayReach } from './address-space.ts';
import type { ConnectionWatch } from './connection-watch.ts';
import {
  CODE,
  CSELECT,
  HTTP_VERSION,
  INFO,
  MULTI_OPT,
  OPT,
  PIPE_MULTIPLEX,
  POLL,
  PREREQ,
  SINCE_QUICK_EXIT,
  SOCKET_TIMEOUT,
} from './curl-constants.ts';
import type { Libcurl, Pointer } from './libcurl.ts';

/** One GET. */
export interface TransferRequest {
  url: string;
  headers: string[];
  userAgent: string;
  /** RFC 9218 urgency, 0 to 7. */
  urgency: number;
  /** `host:port:otherHost:otherPort` (CURLOPT_CONNECT_TO), '' for the URL's own. */
  connectTo: string;
  /** End it as soon as the response's headers are there. */
  headersOnly: boolean;
  /** Most body bytes that a response may announce. */
  maxBytes: number;
  connectTimeoutMs: number;
  totalTimeoutMs: number;
  /** Seconds without a byte after which it is given up. */
  stallSeconds: number;
  /** Where the page is from: the request goes no further inwards than that. */
  pageFrom: AddressSpace;
}

/** What became of one GET. Times are milliseconds after the transfer was added, null for what did not take place. */
export interface TransferOutcome {
  /** libcurl's code, 0 on success. */
  code: number;
  /** libcurl's words, '' on success. */
  error: string;
  /** What carried the response; null when none came. */
  protocol: Protocol | null;
  status: number;
  /** Header and body bytes of the response as received. */
  bytes: number;
  dnsMs: number | null;
  connectMs: number | null;
  handshakeMs: number | null;
  firstByteMs: number | null;
  newConnection: boolean;
  /** Values of the response's `Alt-Svc` fields, '' for none. */
  altSvc: string;
  /** Address of the server, '' when no connection came about. */
  remoteIp: string;
}

interface Transfer {
  id: number;
  easy: Pointer;
  headerList: Pointer | null;
  connectTo: Pointer | null;
  errorText: Pointer;
  headersOnly: boolean;
  headersDone: boolean;
  bytes: number;
  altSvc: string;
  pageFrom: AddressSpace;
  /** Why the request was not sent on its connection, '' when it was. */
  refused: string;
  done: (outcome: TransferOutcome) => void;
}

/** Shared by the multi handles of a process: what is registered once with koffi. */
export interface MultiSettings {
  curl: Libcurl;
  /** CA bundle; '' leaves libcurl its compiled-in one. */
  caFile: string;
  /** Told of every received byte; false ends the transfer that received it. */
  receive: (bytes: number) => boolean;
  onFault: (fault: Error) => void;
}

const HTTPS_ONLY = 'https';
const ERROR_TEXT_BYTES = 256;
const REQUESTED_VERSION: Record<Protocol, number> = {
  h1: HTTP_VERSION.V1_1,
  h2: HTTP_VERSION.V2TLS,
  h3: HTTP_VERSION.V3ONLY,
};

/** What libcurl reports after a transfer as HTTP version. */
export function reportedProtocol(version: number): Protocol | null {
  if (version === HTTP_VERSION.V1_0 || version === HTTP_VERSION.V1_1) return 'h1';
  if (version === HTTP_VERSION.V2) return 'h2';
  return version === HTTP_VERSION.V3 ? 'h3' : null;
}

/** Connections that browsers open to a host under HTTP/1.1. */
const H1_CONNECTIONS_PER_HOST = 6;

/**
 * Open connections of a protocol: as many as Chromium has. A page of thousands of origins must not
 * use up the process's sockets, nor its threads, one for each name that is looked up.
 */
const CONNECTIONS = 256;

/**
 * A multi handle of its own for `protocol`. In a shared one libcurl lets HTTP/2 transfers reuse
 * HTTP/1.1 connections. Its connections start and end with it: a new one is a cold start.
 */
export class ProtocolMulti {
  readonly protocol: Protocol;
  readonly #settings: MultiSettings;
  readonly #curl: Libcurl;
  readonly #watch: ConnectionWatch;
  readonly #multi: Pointer;
  readonly #transfers = new Map<number, Transfer>();
  readonly #byEasy = new Map<Pointer, Transfer>();
  readonly #polls = new Map<number, node.PollHandle>();
  readonly #callbacks: Record<'write' | 'header' | 'sockopt' | 'prereq' | 'socket' | 'timer', Pointer>;
  #timer: NodeJS.Timeout | null = null;
  #soon: NodeJS.Immediate | null = null;
  #nextId = 1;
  #closed = false;

  constructor(protocol: Protocol, settings: MultiSettings, watch: ConnectionWatch) {
    this.protocol = protocol;
    this.#settings = settings;
    this.#curl = settings.curl;
    this.#watch = watch;
    const curl = this.#curl;
    // koffi turns an exception of a callback into a zero for C: report it instead of losing it.
    const guard =
      <A extends unknown[]>(run: (...args: A) => number) =>
      (...args: A): number => {
        try {
          return run(...args);
        } catch (fault) {
          settings.onFault(fault as Error);
          return 0;
        }
      };
    this.#callbacks = {
      write: curl.dataCallback(
        guard((_data, size, count, id) => this.#onBody(Number(size) * Number(count), Number(id))),
      ),
      header: curl.dataCallback(
        guard((data, size, count, id) => this.#onHeader(data, Number(size) * Number(count), Number(id))),
      ),
      sockopt: curl.sockoptCallback(
        guard((_id, socket) => {
          this.#watch.opened(Number(socket));
          return 0;
        }),
      ),
      prereq: curl.prereqCallback(guard((id, remoteIp) => this.#onConnected(Number(id), remoteIp))),
      socket: curl.socketCallback(guard((_easy, socket, what) => this.#onSocket(Number(socket), what))),
      timer: curl.timerCallback(guard((_multi, timeoutMs) => this.#onTimer(Number(timeoutMs)))),
    };
    this.#multi = curl.multiInit();
    curl.multiSetPointer(this.#multi, MULTI_OPT.SOCKETFUNCTION, this.#callbacks.socket);
    curl.multiSetPointer(this.#multi, MULTI_OPT.TIMERFUNCTION, this.#callbacks.timer);
    curl.multiSetLong(this.#multi, MULTI_OPT.PIPELINING, PIPE_MULTIPLEX);
    curl.multiSetLong(this.#multi, MULTI_OPT.MAX_TOTAL_CONNECTIONS, CONNECTIONS);
    // Idle ones are kept as well: none is closed early.
    curl.multiSetLong(this.#multi, MULTI_OPT.MAXCONNECTS, CONNECTIONS);
    curl.multiSetLong(
      this.#multi,
      MULTI_OPT.MAX_HOST_CONNECTIONS,
      protocol === 'h1' ? H1_CONNECTIONS_PER_HOST : 1,
    );
  }

  /**
   * Starts a GET.
   *
   * @param done called once, from the event loop, unless the multi handle is closed before.
   * @throws Error when libcurl refuses the request (a URL that it cannot parse).
   */
  add(request: TransferRequest, done: (outcome: TransferOutcome) => void): void {
    const curl = this.#curl;
    const easy = curl.easyInit();
    const transfer: Transfer = {
      id: this.#nextId++,
      easy,
      headerList: null,
      connectTo: null,
      errorText: curl.allocText(ERROR_TEXT_BYTES),
      headersOnly: request.headersOnly,
      headersDone: false,
      bytes: 0,
      altSvc: '',
      pageFrom: request.pageFrom,
      refused: '',
      done,
    };
    this.#transfers.set(transfer.id, transfer);
    this.#byEasy.set(easy, transfer);
    try {
      this.#configure(transfer, request);
      curl.multiAdd(this.#multi, easy);
    } catch (fault) {
      this.#free(transfer);
      throw fault;
    }
  }

  #configure(transfer: Transfer, request: TransferRequest): void {
    const curl = this.#curl;
    const { easy, id } = transfer;
    transfer.headerList = curl.list(request.headers);
    curl.setPointer(easy, OPT.ERRORBUFFER, transfer.errorText);
    curl.setText(easy, OPT.URL, request.url);
    curl.setText(easy, OPT.PROTOCOLS_STR, HTTPS_ONLY);
    curl.setLong(easy, OPT.HTTPGET, 1);
    curl.setLong(easy, OPT.FOLLOWLOCATION, 0);
    curl.setLong(easy, OPT.SSL_VERIFYPEER, 1);
    curl.setLong(easy, OPT.SSL_VERIFYHOST, 2);
    if (this.#settings.caFile) {
      curl.setText(easy, OPT.CAINFO, this.#settings.caFile);
      // Debian's build also reads a whole folder of certificates, 20 ms of each handshake.
      curl.setPointer(easy, OPT.CAPATH, null);
    }
    // The direct path is what is measured: no proxy of the environment.
    curl.setText(easy, OPT.PROXY, '');
    curl.setLong(easy, OPT.NOSIGNAL, 1);
    // Giving up a name would otherwise stop everything until the resolver has given it up as well.
    if (curl.version.number >= SINCE_QUICK_EXIT) curl.setLong(easy, OPT.QUICK_EXIT, 1);
    curl.setLong(easy, OPT.HTTP_VERSION, REQUESTED_VERSION[this.protocol]);
    curl.setLong(easy, OPT.PIPEWAIT, 1);
    if (this.protocol === 'h2') curl.setLong(easy, OPT.STREAM_WEIGHT, streamWeight(request.urgency));
    curl.setText(easy, OPT.USERAGENT, request.userAgent);
    curl.setPointer(easy, OPT.HTTPHEADER, transfer.headerList);
    curl.setLong(easy, OPT.HTTP_CONTENT_DECODING, 0);
    if (request.connectTo) {
      transfer.connectTo = curl.list([request.connectTo]);
      curl.setPointer(easy, OPT.CONNECT_TO, transfer.connectTo);
    }
    curl.setOffset(easy, OPT.MAXFILESIZE_LARGE, Math.max(1, request.maxBytes));
    curl.setLong(easy, OPT.CONNECTTIMEOUT_MS, request.connectTimeoutMs);
    curl.setLong(easy, OPT.TIMEOUT_MS, request.totalTimeoutMs);
    curl.setLong(easy, OPT.LOW_SPEED_LIMIT, 1);
    curl.setLong(easy, OPT.LOW_SPEED_TIME, request.stallSeconds);
    curl.setPointer(easy, OPT.WRITEFUNCTION, this.#callbacks.write);
    curl.setId(easy, OPT.WRITEDATA, id);
    curl.setPointer(easy, OPT.HEADERFUNCTION, this.#callbacks.header);
    curl.setId(easy, OPT.HEADERDATA, id);
    curl.setPointer(easy, OPT.SOCKOPTFUNCTION, this.#callbacks.sockopt);
    curl.setId(easy, OPT.SOCKOPTDATA, id);
    curl.setPointer(easy, OPT.PREREQFUNCTION, this.#callbacks.prereq);
    curl.setId(easy, OPT.PREREQDATA, id);
  }

  /** Ends every transfer without a call of its `done`, and every connection. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const socket of this.#polls.keys()) this.#watch.sample(socket);
    if (this.#timer) clearTimeout(this.#timer);
    if (this.#soon) clearImmediate(this.#soon);
    // libuv must let go of a socket before libcurl closes it.
    for (const poll of this.#polls.values()) poll.close();
    this.#polls.clear();
    for (const transfer of this.#transfers.values()) {
      this.#curl.multiRemove(this.#multi, transfer.easy);
      this.#free(transfer);
    }
    this.#curl.multiCleanup(this.#multi);
    for (const callback of Object.values(this.#callbacks)) this.#curl.freeCallback(callback);
  }

  /**
   * Before a request goes out. A page may have listed what its browser would not let it reach: a
   * router, a service on this machine. Asked here, not by name: names may change their address.
   */
  #onConnected(id: number, remoteIp: string): number {
    const transfer = this.#transfers.get(id);
    if (!transfer) return PREREQ.ABORT;
    const space = addressSpace(remoteIp);
    if (mayReach(transfer.pageFrom, space)) return PREREQ.OK;
    transfer.refused = `${remoteIp} is a ${space} address, which a ${transfer.pageFrom} page may not reach`;
    return PREREQ.ABORT;
  }

  #onBody(bytes: number, id: number): number {
    const transfer = this.#transfers.get(id);
    if (!transfer) return 0;
    transfer.bytes += bytes;
    // Any other number than the one received ends the transfer with CURLE_WRITE_ERROR.
    return this.#settings.receive(bytes) && !transfer.headersOnly ? bytes : 0;
  }

  #onHeader(data: Pointer, bytes: number, id: number): number {
    const transfer = this.#transfers.get(id);
    if (!transfer) return 0;
    transfer.bytes += bytes;
    if (!this.#settings.receive(bytes)) return 0;
    const line = this.#curl.text(data, bytes);
    if (/^alt-svc:/i.test(line)) {
      const value = line.slice('alt-svc:'.length).trim();
      transfer.altSvc = transfer.altSvc ? `${transfer.altSvc}, ${value}` : value;
    }
    // A status line opens the final response after each 1xx one.
    if (/^HTTP\/[\d.]+ 1\d\d/.test(line)) transfer.headersDone = false;
    else if (line.trim() === '' && this.#curl.infoLong(transfer.easy, INFO.RESPONSE_CODE) >= 200) {
      transfer.headersDone = true;
      if (transfer.headersOnly) return 0;
    }
    return bytes;
  }

  #onSocket(socket: number, what: number): number {
    if (this.#closed) return 0;
    const poll = this.#polls.get(socket);
    if (what === POLL.REMOVE) {
      this.#watch.sample(socket);
      poll?.close();
      this.#polls.delete(socket);
      return 0;
    }
    const wanted = { readable: (what & POLL.IN) !== 0, writable: (what & POLL.OUT) !== 0 };
    const onReady = (...args: unknown[]): void => {
      this.#onReady(socket, args[0] as number, args[1] as node.PollEvents);
    };
    if (poll) poll.start(wanted, onReady);
    else this.#polls.set(socket, koffi.node.poll(socket, wanted, onReady));
    return 0;
  }

  #onReady(socket: number, status: number, events: node.PollEvents): void {
    if (this.#closed) return;
    if (events.readable) this.#watch.sample(socket);
    let flags = 0;
    if (status < 0) flags = CSELECT.ERR;
    if (events.readable) flags |= CSELECT.IN;
    if (events.writable) flags |= CSELECT.OUT;
    this.#act(socket, flags);
  }

  #onTimer(timeoutMs: number): number {
    if (this.#timer) clearTimeout(this.#timer);
    if (this.#soon) clearImmediate(this.#soon);
    this.#timer = null;
    this.#soon = null;
    if (this.#closed || timeoutMs < 0) return 0;
    // libcurl must not be entered again from its own callback, not even for a timeout of 0.
    if (timeoutMs === 0) this.#soon = setImmediate(() => this.#act(SOCKET_TIMEOUT, 0));
    else this.#timer = setTimeout(() => this.#act(SOCKET_TIMEOUT, 0), timeoutMs);
    return 0;
  }

  #act(socket: number, flags: number): void {
    if (this.#closed) return;
    try {
      this.#curl.socketAction(this.#multi, socket, flags);
      this.#collect();
    } catch (fault) {
      this.#settings.onFault(fault as Error);
    }
  }

  #collect(): void {
    for (;;) {
      if (this.#closed) return;
      const finished = this.#curl.nextFinished(this.#multi);
      if (!finished) return;
      const transfer = this.#byEasy.get(finished.easy);
      if (!transfer) throw new Error('libcurl finished a transfer that was never started');
      const outcome = this.#outcome(transfer, finished.code);
      this.#curl.multiRemove(this.#multi, transfer.easy);
      this.#free(transfer);
      transfer.done(outcome);
    }
  }

  #outcome(transfer: Transfer, code: number): TransferOutcome {
    const curl = this.#curl;
    const { easy } = transfer;
    const status = curl.infoLong(easy, INFO.RESPONSE_CODE);
    const newConnection = curl.infoLong(easy, INFO.NUM_CONNECTS) > 0;
    const time = (info: number): number | null => {
      const microseconds = curl.infoOffset(easy, info);
      return microseconds > 0 ? microseconds / 1000 : null;
    };
    const cutOnPurpose = transfer.headersOnly && transfer.headersDone && code === CODE.WRITE_ERROR;
    const failed = code !== CODE.OK && !cutOnPurpose;
    return {
      code: failed ? code : 0,
      error: failed ? transfer.refused || curl.readText(transfer.errorText) || curl.errorText(code) : '',
      protocol: status > 0 ? reportedProtocol(curl.infoLong(easy, INFO.HTTP_VERSION)) : null,
      status,
      bytes: transfer.bytes,
      dnsMs: newConnection ? time(INFO.NAMELOOKUP_TIME_T) : null,
      connectMs: newConnection ? time(INFO.CONNECT_TIME_T) : null,
      handshakeMs: newConnection ? time(INFO.APPCONNECT_TIME_T) : null,
      firstByteMs: time(INFO.STARTTRANSFER_TIME_T),
      newConnection,
      altSvc: transfer.altSvc,
      remoteIp: curl.infoText(easy, INFO.PRIMARY_IP),
    };
  }

  #free(transfer: Transfer): void {
    this.#transfers.delete(transfer.id);
    this.#byEasy.delete(transfer.easy);
    this.#curl.easyCleanup(transfer.easy);
    this.#curl.freeList(transfer.headerList);
    this.#curl.freeList(transfer.connectTo);
    this.#curl.free(transfer.errorText);
  }
}

/** HTTP/2 weight of an RFC 9218 urgency: 256 for 0 to 1 for 7 (RFC 7540 section 5.3.2), in even steps. */
function streamWeight(urgency: number): number {
  return 256 - Math.round((urgency * 255) / 7);
}
