/** One round: the transfers of a plan, in its order and with its delays, on fresh connections. */
import type { AddressSpace, Protocol } from '@hopwise/contract';
import { MAX_CONNECTIONS_PER_HOST } from '@hopwise/contract/browser-limits';
import { oneLine } from '../base/one-line.ts';
import { type ConnectionFigures, ConnectionWatch } from '../curl/connection-watch.ts';
import type { NameChecks } from '../curl/easy-options.ts';
import type { Libcurl } from '../curl/libcurl.ts';
import type { TcpInfo } from '../curl/tcp-info.ts';
import { RoundTransfers, type TransferOutcome } from './round-transfers.ts';
import { TimerQueue } from './timer-queue.ts';

/** One transfer of a round. */
export interface RoundTransfer {
  url: string;
  /** `host:port`: transfers with equal keys share the connections of a protocol. */
  host: string;
  protocol: Protocol;
  /** Indices into the round's transfers, all lower than this one's own. */
  after: number[];
  delayMs: number;
  urgency: number;
  incremental: boolean;
  accept: string;
  /** `host:port:otherHost:otherPort`, '' for the URL's own. */
  connectTo: string;
  /** How it is sent instead once a response of its host has offered HTTP/3 in `Alt-Svc`; null to send it as above. */
  onceOffered: Pick<RoundTransfer, 'protocol' | 'connectTo'> | null;
  /** Request one byte and end the transfer as soon as the headers have arrived. */
  headersOnly: boolean;
  /** Maximum bytes of its response; null for what the round allows. */
  maxBytes: number | null;
  /** Why it must fail without an attempt; '' to attempt it. */
  refused: string;
}

export interface RoundRequest {
  transfers: RoundTransfer[];
  userAgent: string;
  /** Maximum response bytes in all. */
  maxBytes: number;
  connectTimeoutMs: Record<Protocol, number>;
  totalTimeoutMs: number;
  stallSeconds: number;
  /** Response statuses that end the round. */
  stopOn: number[];
  /** Address space of the page, which bounds the requests' targets (`mayReach`). */
  pageFrom: AddressSpace;
}

/** A transfer's outcome; times are milliseconds after the round's start. */
export interface RoundTransferResult extends TransferOutcome {
  index: number;
  startMs: number;
  endMs: number;
}

export interface RoundReport {
  /** One for each ended transfer, in order of their ends. */
  results: RoundTransferResult[];
  /** Header and body bytes received, including those of unfinished transfers. */
  bytes: number;
  /** TCP connections; none where TCP_INFO cannot be read. */
  connections: ConnectionFigures[];
  /** Why the round ended; `whole` when every transfer has ended. */
  ended: 'whole' | 'budget' | 'stopped' | 'cancelled';
}

/**
 * Requests in flight on one connection. Above it libcurl would open another one; Chromium and
 * servers commonly use 100 (the minimum that RFC 9113 section 6.5.2 recommends to servers).
 */
const MAX_MULTIPLEXED_IN_FLIGHT = 100;

interface HostQueue {
  inFlight: number;
  /** Indices of the transfers that wait for a free slot. */
  waiting: number[];
}

interface RoundTools {
  curl: Libcurl;
  names: NameChecks;
  readTcpInfo: (socket: number) => TcpInfo | null;
  onResult: (result: RoundTransferResult) => void;
  onFault: (fault: Error) => void;
}

/** Runs one round; `cancel` ends it at once. */
export class Round {
  readonly #request: RoundRequest;
  readonly #tools: RoundTools;
  readonly #multis = new Map<Protocol, RoundTransfers>();
  readonly #watch: ConnectionWatch;
  readonly #due = new TimerQueue();
  /** Hosts that have offered HTTP/3. */
  readonly #offering = new Set<string>();
  readonly #queues = new Map<string, HostQueue>();
  readonly #waitsFor: number[];
  readonly #dependents: number[][];
  readonly #readyMs: number[] = [];
  /** The transfers as they are sent, from the moment at which they are ready. */
  readonly #sent: RoundTransfer[] = [];
  readonly #results: RoundTransferResult[] = [];
  readonly #finish: (report: RoundReport) => void;
  #startMs = 0;
  #bytes = 0;
  #ended: RoundReport['ended'] | null = null;

  /** @param finish called once, from the event loop, when every connection is closed. */
  constructor(request: RoundRequest, tools: RoundTools, finish: (report: RoundReport) => void) {
    this.#request = request;
    this.#tools = tools;
    this.#finish = finish;
    this.#watch = new ConnectionWatch(tools.readTcpInfo);
    this.#waitsFor = request.transfers.map(({ after }) => new Set(after).size);
    this.#dependents = request.transfers.map(() => []);
    request.transfers.forEach(({ after }, index) => {
      for (const former of new Set(after)) this.#dependents[former]!.push(index);
    });
  }

  start(): void {
    const settings = {
      curl: this.#tools.curl,
      names: this.#tools.names,
      receive: (bytes: number) => this.#receive(bytes),
      onH3Offer: (host: string) => void this.#offering.add(host),
      onFault: this.#tools.onFault,
    };
    const protocols = this.#request.transfers.flatMap(({ protocol, onceOffered }) => [
      protocol,
      ...(onceOffered ? [onceOffered.protocol] : []),
    ]);
    for (const protocol of new Set(protocols)) {
      this.#multis.set(protocol, new RoundTransfers(protocol, settings, this.#watch));
    }
    this.#startMs = performance.now();
    this.#request.transfers.forEach(({ delayMs }, index) => {
      if (this.#waitsFor[index] === 0) this.#due.at(this.#startMs + delayMs, () => this.#ready(index));
    });
  }

  cancel(): void {
    this.#end('cancelled');
  }

  #receive(bytes: number): boolean {
    if (this.#ended) return false;
    if (this.#bytes + bytes > this.#request.maxBytes) {
      this.#end('budget');
      return false;
    }
    this.#bytes += bytes;
    return true;
  }

  #ready(index: number): void {
    this.#readyMs[index] = performance.now();
    const planned = this.#request.transfers[index]!;
    const isOffered = planned.onceOffered !== null && this.#offering.has(planned.host);
    const transfer = isOffered ? { ...planned, ...planned.onceOffered } : planned;
    this.#sent[index] = transfer;
    const key = `${transfer.protocol} ${transfer.host}`;
    let queue = this.#queues.get(key);
    if (!queue) {
      queue = { inFlight: 0, waiting: [] };
      this.#queues.set(key, queue);
    }
    queue.waiting.push(index);
    this.#advance(queue);
  }

  /** Starts transfers while there are free slots, most urgent first, as browsers order their queues. */
  #advance(queue: HostQueue): void {
    while (queue.waiting.length > 0 && !this.#ended) {
      const transfers = this.#sent;
      const limit =
        transfers[queue.waiting[0]!]!.protocol === 'h1'
          ? MAX_CONNECTIONS_PER_HOST
          : MAX_MULTIPLEXED_IN_FLIGHT;
      if (queue.inFlight >= limit) return;
      let place = 0;
      queue.waiting.forEach((index, candidate) => {
        if (transfers[index]!.urgency < transfers[queue.waiting[place]!]!.urgency) place = candidate;
      });
      const [index] = queue.waiting.splice(place, 1);
      queue.inFlight += 1;
      this.#begin(index!, queue);
    }
  }

  #begin(index: number, queue: HostQueue): void {
    const transfer = this.#sent[index]!;
    const addedMs = performance.now();
    const onDone = (outcome: TransferOutcome): void => {
      queue.inFlight -= 1;
      this.#onDone(index, addedMs, outcome);
      this.#advance(queue);
    };
    // In a later turn: a long chain of such transfers must not become a deep stack.
    const fail = (words: string): void => {
      setImmediate(() => onDone(untried(words)));
    };
    if (transfer.refused) {
      fail(transfer.refused);
      return;
    }
    try {
      this.#multis.get(transfer.protocol)!.add(
        {
          url: transfer.url,
          host: transfer.host,
          headers: requestHeaders(transfer),
          userAgent: oneLine(this.#request.userAgent),
          urgency: transfer.urgency,
          connectTo: transfer.connectTo,
          headersOnly: transfer.headersOnly,
          maxBytes: Math.min(transfer.maxBytes ?? Infinity, this.#request.maxBytes - this.#bytes),
          connectTimeoutMs: this.#request.connectTimeoutMs[transfer.protocol],
          totalTimeoutMs: this.#request.totalTimeoutMs,
          stallSeconds: this.#request.stallSeconds,
          pageFrom: this.#request.pageFrom,
        },
        onDone,
      );
    } catch (fault) {
      fail((fault as Error).message);
    }
  }

  #onDone(index: number, addedMs: number, outcome: TransferOutcome): void {
    if (this.#ended) return;
    const now = performance.now();
    const shift = (value: number | null): number | null =>
      value === null ? null : Math.max(0, addedMs - this.#startMs + value);
    const result: RoundTransferResult = {
      ...outcome,
      index,
      startMs: Math.max(0, this.#readyMs[index]! - this.#startMs),
      endMs: now - this.#startMs,
      dnsMs: shift(outcome.dnsMs),
      connectMs: shift(outcome.connectMs),
      handshakeMs: shift(outcome.handshakeMs),
      firstByteMs: shift(outcome.firstByteMs),
    };
    this.#results.push(result);
    this.#tools.onResult(result);
    if (this.#request.stopOn.includes(outcome.status)) {
      this.#end('stopped');
      return;
    }
    for (const dependent of this.#dependents[index]!) {
      this.#waitsFor[dependent]! -= 1;
      if (this.#waitsFor[dependent] === 0) {
        this.#due.at(now + this.#request.transfers[dependent]!.delayMs, () => this.#ready(dependent));
      }
    }
    if (this.#results.length === this.#request.transfers.length) this.#end('whole');
  }

  #end(how: RoundReport['ended']): void {
    if (this.#ended) return;
    this.#ended = how;
    this.#due.clear();
    // This may run inside a callback of libcurl, where no handle may be closed.
    setImmediate(() => {
      for (const multi of this.#multis.values()) multi.close();
      const connections = this.#watch.figures();
      this.#finish({ results: this.#results, bytes: this.#bytes, connections, ended: how });
    });
  }
}

function requestHeaders(transfer: RoundTransfer): string[] {
  // Plans come from pages: no text in them may begin another header line.
  const accept = oneLine(transfer.accept) || '*/*';
  // A browser's encodings, so that servers send the same as to browsers; nothing is decoded here.
  const headers = [`Accept: ${accept}`, 'Accept-Encoding: gzip, deflate, br, zstd'];
  if (transfer.headersOnly) headers.push('Range: bytes=0-0');
  if (transfer.protocol !== 'h1') {
    const parameters = [];
    if (transfer.urgency !== DEFAULT_URGENCY) parameters.push(`u=${transfer.urgency}`);
    if (transfer.incremental) parameters.push('i');
    if (parameters.length > 0) headers.push(`Priority: ${parameters.join(', ')}`);
  }
  return headers;
}

/** RFC 9218 section 4.1: the default need not be sent. */
const DEFAULT_URGENCY = 3;

function untried(error: string): TransferOutcome {
  return {
    code: -1,
    error,
    protocol: null,
    status: 0,
    bytes: 0,
    dnsMs: null,
    connectMs: null,
    handshakeMs: null,
    firstByteMs: null,
    newConnection: false,
    altSvc: '',
    remoteIp: '',
  };
}
