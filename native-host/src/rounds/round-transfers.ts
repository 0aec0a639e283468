/** The GETs of a round under one protocol. */
import type { AddressSpace, Protocol } from '@hopwise/contract';
import type { ConnectionWatch } from '../curl/connection-watch.ts';
import { CODE, HTTP_VERSION, INFO, OPT, SOCKET_BAD } from '../curl/curl-constants.ts';
import {
  type Callbacks,
  ERROR_TEXT_BYTES,
  type NameChecks,
  reportedProtocol,
  setCallbacks,
  setCommonOptions,
} from '../curl/easy-options.ts';
import { describesCode } from '../curl/error-words.ts';
import type { Libcurl, Pointer } from '../curl/libcurl.ts';
import { MultiHandle } from '../curl/multi-handle.ts';

/** One GET. */
interface TransferRequest {
  url: string;
  /** `host:port` under which its connection's figures are reported. */
  host: string;
  headers: string[];
  userAgent: string;
  /** RFC 9218 urgency, 0 to 7. */
  urgency: number;
  /** `host:port:otherHost:otherPort` (CURLOPT_CONNECT_TO), '' for the URL's own. */
  connectTo: string;
  /** End it as soon as the response's headers have arrived. */
  headersOnly: boolean;
  /** Maximum bytes of the response, header included. */
  maxBytes: number;
  connectTimeoutMs: number;
  totalTimeoutMs: number;
  /** Seconds without a byte after which it fails. */
  stallSeconds: number;
  /** Address space of the page, which bounds the request's target (`mayReach`). */
  pageFrom: AddressSpace;
}

/** The outcome of one GET. Times are milliseconds after the transfer was added, null for phases that did not take place. */
export interface TransferOutcome {
  /** libcurl's result code, 0 on success; `ABORTED_BY_CALLBACK` where it may not be connected to the server's addresses. */
  code: number;
  /** libcurl's error message, '' on success. */
  error: string;
  /** The protocol of the response; null when there was none. */
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
  /** Address of the server, '' when no connection was established. */
  remoteIp: string;
}

interface Transfer {
  id: number;
  host: string;
  easy: Pointer;
  headerList: Pointer | null;
  connectTo: Pointer | null;
  errorText: Pointer;
  headersOnly: boolean;
  headersDone: boolean;
  bytes: number;
  maxBytes: number;
  altSvc: string;
  pageFrom: AddressSpace;
  /** Why it was not connected to an address, or was ended; '' for neither. */
  refused: string;
  /** Whether the last address was one that it may not be connected to. */
  isAddressRefused: boolean;
  done: (outcome: TransferOutcome) => void;
}

/** Shared by the protocols of a round. */
interface RoundTransfersSettings {
  curl: Libcurl;
  names: NameChecks;
  /** Called with the number of received bytes; false ends the transfer. */
  receive: (bytes: number) => boolean;
  /** Called when a response's header offers HTTP/3. */
  onH3Offer: (host: string) => void;
  onFault: (fault: Error) => void;
}

const REQUESTED_VERSION: Record<Protocol, number> = {
  h1: HTTP_VERSION.V1_1,
  h2: HTTP_VERSION.V2TLS,
  h3: HTTP_VERSION.V3ONLY,
};

/** RFC 9114, section 3.1.1. */
const H3_OFFER = /(?:^|[\s,])h3=/i;

/** Its connections start and end with it: a new one is a cold start. */
export class RoundTransfers {
  readonly protocol: Protocol;
  readonly #settings: RoundTransfersSettings;
  readonly #curl: Libcurl;
  readonly #multi: MultiHandle;
  readonly #transfers = new Map<number, Transfer>();
  readonly #callbacks: Callbacks;
  #nextId = 1;
  #closed = false;

  constructor(protocol: Protocol, settings: RoundTransfersSettings, watch: ConnectionWatch) {
    this.protocol = protocol;
    this.#settings = settings;
    const { curl, onFault } = settings;
    this.#curl = curl;
    this.#callbacks = {
      WRITE: curl.callback('data', onFault, (_data, size, count, id) =>
        this.#onBody(Number(size) * Number(count), Number(id)),
      ),
      HEADER: curl.callback('data', onFault, (data, size, count, id) =>
        this.#onHeader(data, Number(size) * Number(count), Number(id)),
      ),
      SOCKOPT: curl.callback('sockopt', onFault, (id, socket) => {
        watch.noteOpened(Number(socket), this.#transfers.get(Number(id))?.host ?? '');
        return 0;
      }),
      OPENSOCKET: curl.callback(
        'opensocket',
        onFault,
        (id, _purpose, address) => this.#openSocket(Number(id), address),
        SOCKET_BAD,
      ),
    };
    this.#multi = new MultiHandle({ curl, protocol, onFault, onSocket: (socket) => watch.sample(socket) });
  }

  /**
   * Starts a GET.
   *
   * @param done called once, from the event loop, unless `close` comes before.
   * @throws Error when libcurl refuses the request (a URL that it cannot parse).
   */
  add(request: TransferRequest, done: (outcome: TransferOutcome) => void): void {
    const curl = this.#curl;
    const easy = curl.easyInit();
    const transfer: Transfer = {
      id: this.#nextId++,
      host: request.host,
      easy,
      headerList: null,
      connectTo: null,
      errorText: curl.allocText(ERROR_TEXT_BYTES),
      headersOnly: request.headersOnly,
      headersDone: false,
      bytes: 0,
      maxBytes: request.maxBytes,
      altSvc: '',
      pageFrom: request.pageFrom,
      refused: '',
      isAddressRefused: false,
      done,
    };
    this.#transfers.set(transfer.id, transfer);
    try {
      this.#configure(transfer, request);
      this.#multi.add(easy, (code) => this.#onEnd(transfer, code));
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
    setCommonOptions(curl, easy, this.#settings.names);
    curl.setLong(easy, OPT.HTTPGET, 1);
    curl.setLong(easy, OPT.HTTP_VERSION, REQUESTED_VERSION[this.protocol]);
    if (this.protocol === 'h2') curl.setLong(easy, OPT.STREAM_WEIGHT, streamWeight(request.urgency));
    curl.setText(easy, OPT.USERAGENT, request.userAgent);
    curl.setPointer(easy, OPT.HTTPHEADER, transfer.headerList);
    if (request.connectTo) {
      transfer.connectTo = curl.list([request.connectTo]);
      curl.setPointer(easy, OPT.CONNECT_TO, transfer.connectTo);
    }
    curl.setOffset(easy, OPT.MAXFILESIZE_LARGE, Math.max(1, request.maxBytes));
    curl.setLong(easy, OPT.CONNECTTIMEOUT_MS, request.connectTimeoutMs);
    curl.setLong(easy, OPT.TIMEOUT_MS, request.totalTimeoutMs);
    curl.setLong(easy, OPT.LOW_SPEED_LIMIT, 1);
    curl.setLong(easy, OPT.LOW_SPEED_TIME, request.stallSeconds);
    setCallbacks(curl, easy, this.#callbacks, id);
  }

  /** Ends every transfer, without calling its `done`, and every connection. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#multi.close();
    for (const transfer of this.#transfers.values()) this.#free(transfer);
    for (const callback of Object.values(this.#callbacks)) this.#curl.freeCallback(callback);
  }

  /**
   * A page may list targets that its browser would not let it reach, such as a router or a service on this machine. The
   * address is checked, not the name: names may change their address.
   */
  #openSocket(id: number, address: Pointer): number {
    const transfer = this.#transfers.get(id);
    if (!transfer) return SOCKET_BAD;
    const opened = this.#curl.sockets.open(address, transfer.pageFrom);
    transfer.isAddressRefused = 'refusal' in opened;
    transfer.refused = 'refusal' in opened ? opened.refusal : '';
    return opened.socket;
  }

  #onBody(bytes: number, id: number): number {
    const transfer = this.#transfers.get(id);
    if (!transfer) return 0;
    // Any number but the one received ends the transfer with CURLE_WRITE_ERROR.
    return this.#take(transfer, bytes) && !transfer.headersOnly ? bytes : 0;
  }

  #onHeader(data: Pointer, bytes: number, id: number): number {
    const transfer = this.#transfers.get(id);
    if (!transfer) return 0;
    if (!this.#take(transfer, bytes)) return 0;
    const line = this.#curl.text(data, bytes);
    if (/^alt-svc:/i.test(line)) {
      const value = line.slice('alt-svc:'.length).trim();
      transfer.altSvc = transfer.altSvc ? `${transfer.altSvc}, ${value}` : value;
      if (H3_OFFER.test(value)) this.#settings.onH3Offer(transfer.host);
    }
    // A status line opens the final response after each 1xx one.
    if (/^HTTP\/[\d.]+ 1\d\d/.test(line)) transfer.headersDone = false;
    else if (line.trim() === '' && this.#curl.infoLong(transfer.easy, INFO.RESPONSE_CODE) >= 200) {
      transfer.headersDone = true;
      if (transfer.headersOnly) return 0;
    }
    return bytes;
  }

  /** @returns whether the transfer may continue */
  #take(transfer: Transfer, bytes: number): boolean {
    transfer.bytes += bytes;
    if (!this.#settings.receive(bytes)) return false;
    if (transfer.bytes <= transfer.maxBytes) return true;
    transfer.refused = tooLong(transfer.maxBytes, 'arrived');
    return false;
  }

  #onEnd(transfer: Transfer, code: number): void {
    const outcome = this.#outcome(transfer, code);
    this.#free(transfer);
    transfer.done(outcome);
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
    const failure = transfer.isAddressRefused ? CODE.ABORTED_BY_CALLBACK : code;
    if (code === CODE.FILESIZE_EXCEEDED) transfer.refused ||= tooLong(transfer.maxBytes, 'are announced');
    const message = curl.readText(transfer.errorText);
    const isConnected = time(INFO.APPCONNECT_TIME_T) !== null;
    const words = describesCode(code, message, isConnected) ? message : curl.errorText(code);
    return {
      code: failed ? failure : 0,
      error: failed ? transfer.refused || words : '',
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
    this.#curl.easyCleanup(transfer.easy);
    this.#curl.freeList(transfer.headerList);
    this.#curl.freeList(transfer.connectTo);
    this.#curl.free(transfer.errorText);
  }
}

/** Why a response was ended. libcurl's words do not say that the limit is the probe's own. */
const tooLong = (maxBytes: number, come: string): string =>
  `more than ${maxBytes} bytes ${come}, which its expected size or the budget does not allow`;

/** HTTP/2 weight of an RFC 9218 urgency: 256 for 0 to 1 for 7 (RFC 7540 section 5.3.2), in even steps. */
function streamWeight(urgency: number): number {
  return 256 - Math.round((urgency * 255) / 7);
}
