import type { MeasuredExchange, Protocol } from '@hopwise/contract';
import {
  type Exchange,
  ExchangeError,
  type ExchangeRequest,
  type ResponseHead,
} from '../../exchange/exchange.ts';
import { type HeaderField, valuesOf } from '../../exchange/headers.ts';
import { BodyRelay } from './body-relay.ts';
import type { BrowserRequest } from './browser-request.ts';
import { isLostConnection, isRepeatable, nextAction, secondProtocol } from './retry-policy.ts';

/**
 * How long a request under HTTP/3 or HTTP/2 waits for its response before the origin is checked, doubled after each check: a
 * network that begins to drop packets gives no signal. QUIC waits for half a minute or more, TCP for many minutes.
 */
export const SUSPECT_AFTER_MS = 3_000;

/** How long it waits under HTTP/3 before something is sent on its connection: a server that thinks acknowledges that, a path that drops packets does not. */
const LATE_AFTER_MS = 1_000;

/** Informational responses of one request that are forwarded; an origin can send them without end. */
const INFORMATIONAL_LIMIT = 32;

/** Events that concern the origin; `pinned` is the protocol that it was pinned to when the request began. */
export interface RelayEvents {
  /** A response has begun under the pinned protocol. */
  onAnswered(pinned: Protocol): void;
  /** A response has begun under another protocol, after `fault` under the pinned one. */
  onOtherAnswered(pinned: Protocol, fault: ExchangeError): void;
  /** An attempt under the pinned protocol has failed. Called before the next attempt. */
  onFailed(pinned: Protocol, fault: ExchangeError): void;
  /**
   * A response has begun, or goes on, under another protocol, in an attempt beside the one under the pinned protocol, under which nothing at all
   * comes back.
   */
  onOvertaken(pinned: Protocol, by: Protocol): void;
  /** Nothing has come of a response under HTTP/3 for a while. */
  onLate(protocol: Protocol, partition: string): void;
  /** A request has waited for its response for `SUSPECT_AFTER_MS` or more. */
  onSuspect(pinned: Protocol): void;
  /** A response has arrived completely, of a request that is measured. */
  onMeasured(exchange: MeasuredExchange): void;
  /** A response cannot be forwarded in the browser's HTTP version, or is accepted under no protocol. */
  onUnforwardable(pinned: Protocol, reason: string): void;
}

/** The origin of a request. */
export interface Upstream {
  readonly events: RelayEvents;
  /** The partition of the connections to it, as in `ExchangeRequest`. */
  readonly partition: string;
  /** Whether its exchanges are measured. */
  readonly isMeasured: boolean;
  exchange(request: Omit<ExchangeRequest, 'url'>, target: string): Exchange;
  removeRelay(relay: Relay): unknown;
}

/**
 * Whether an origin asks for credentials of a whole connection, as NTLM and Negotiate do (RFC 4559): those of a pin are shared, so that no
 * such log-in would work, or others would use it. A request that is answered so was not processed.
 */
function bindsConnection(headers: readonly HeaderField[]): boolean {
  return valuesOf(headers, 'www-authenticate').some((value) => /(^|,)\s*(ntlm|negotiate)\b/i.test(value));
}

/** Relays one request of the browser to the origin and the response back, if necessary under other protocols. */
export class Relay {
  readonly #request: BrowserRequest;
  readonly #upstream: Upstream;
  readonly #pinned: Protocol;
  readonly #tried: Protocol[] = [];
  /** Why the last attempt under the pinned protocol failed. */
  #pinnedFault: ExchangeError | null = null;
  #exchange: Exchange | null = null;
  /** A second attempt, under another protocol, while nothing comes back in the first: the first answer wins. */
  #second: { exchange: Exchange; protocol: Protocol; isLast: boolean } | null = null;
  #headSeen = false;
  #body: BodyRelay | null = null;
  #over = false;
  #waiting: NodeJS.Timeout | undefined;
  #late: NodeJS.Timeout | undefined;

  constructor(request: BrowserRequest, upstream: Upstream, pinned: Protocol) {
    this.#request = request;
    this.#pinned = pinned;
    this.#upstream = upstream;
    request.onGone = () => this.#finish(() => this.#cancel());
  }

  start(): void {
    this.#attempt(this.#pinned);
  }

  /** The origin no longer answers under this protocol: a repeatable request is attempted under another one at once. */
  useNextProtocol(protocol: Protocol, message: string): void {
    const exchange = this.#exchange;
    if (this.#over || this.#headSeen || !exchange || this.#tried.at(-1) !== protocol) return;
    if (!isRepeatable(this.#request.method, exchange.sent)) return;
    this.#exchange = null;
    exchange.cancel();
    const fault = new ExchangeError('timeout', message, exchange.sent);
    if (protocol === this.#pinned) this.#pinnedFault = fault;
    this.#attemptAgain(fault);
  }

  #attempt(protocol: Protocol): void {
    this.#await(this.#open(protocol), protocol);
  }

  /** Makes an attempt the one whose answer or failure decides. */
  #await(exchange: Exchange, protocol: Protocol): void {
    this.#exchange = exchange;
    this.#tried.push(protocol);
    this.#stopWaiting();
    // Over HTTP/1.1 no other request waits for the same connection.
    if (protocol !== 'h1') this.#suspectIn(SUSPECT_AFTER_MS);
    if (protocol === 'h3') this.#late = setTimeout(() => this.#askSomething(protocol), LATE_AFTER_MS);
  }

  #askSomething(protocol: Protocol): void {
    this.#upstream.events.onLate(protocol, this.#upstream.partition);
  }

  #stopWaiting(): void {
    clearTimeout(this.#waiting);
    clearTimeout(this.#late);
  }

  #open(protocol: Protocol): Exchange {
    const { method, headers, body, target } = this.#request;
    const { isMeasured } = this.#upstream;
    const exchange = this.#upstream.exchange({ protocol, method, headers, body, isMeasured }, target);
    let informational = 0;
    exchange.onInformational = (status, fields) => {
      if (exchange !== this.#exchange) return;
      informational += 1;
      if (informational <= INFORMATIONAL_LIMIT) this.#request.informational(status, fields);
    };
    exchange.onSilent = () => this.#startSecondAttempt(exchange, protocol);
    exchange.head.then(
      (head) => this.#onHead(exchange, protocol, head),
      (fault: ExchangeError) => this.#onFault(exchange, protocol, fault),
    );
    return exchange;
  }

  #onHead(exchange: Exchange, protocol: Protocol, head: ResponseHead): void {
    if (this.#over || this.#headSeen) return;
    // It failed right after its head, and the browser has received nothing yet.
    if (exchange.fault) this.#onFault(exchange, protocol, exchange.fault);
    else if (exchange === this.#exchange) {
      this.#dropSecondAttempt();
      this.#respond(exchange, head);
    } else if (exchange === this.#second?.exchange) {
      const overtaken = this.#exchange!;
      const { isSilent } = overtaken;
      this.#promoteSecondAttempt();
      if (isSilent) this.#upstream.events.onOvertaken(this.#pinned, protocol);
      overtaken.cancel();
      this.#respond(exchange, head);
    }
  }

  #onFault(exchange: Exchange, protocol: Protocol, fault: ExchangeError): void {
    if (this.#over || this.#headSeen) return;
    if (exchange === this.#exchange) this.#retry(protocol, fault);
    else if (exchange === this.#second?.exchange) {
      const isRepeated = isLostConnection(fault) && !this.#second.isLast;
      // Without it the first attempt goes on.
      this.#second = isRepeated ? { exchange: this.#open(protocol), protocol, isLast: true } : null;
    }
  }

  /** Nothing comes back in an attempt: the same request goes out under another protocol as well, where it asks for nothing but an answer. */
  #startSecondAttempt(exchange: Exchange, protocol: Protocol): void {
    if (this.#over || this.#headSeen || this.#second || exchange !== this.#exchange) return;
    const { method, body } = this.#request;
    const second = secondProtocol(method, body !== null, protocol);
    if (second !== null && !this.#tried.includes(second))
      this.#second = { exchange: this.#open(second), protocol: second, isLast: false };
  }

  /** The second attempt takes the place of the first. */
  #promoteSecondAttempt(): void {
    const { exchange, protocol } = this.#second!;
    this.#second = null;
    this.#await(exchange, protocol);
  }

  #dropSecondAttempt(): void {
    const second = this.#second;
    this.#second = null;
    second?.exchange.cancel();
  }

  #suspectIn(delayMs: number): void {
    this.#waiting = setTimeout(() => {
      this.#suspectIn(2 * delayMs);
      this.#upstream.events.onSuspect(this.#pinned);
    }, delayMs);
  }

  #failed(protocol: Protocol, fault: ExchangeError): void {
    if (protocol !== this.#pinned) return;
    this.#pinnedFault = fault;
    this.#upstream.events.onFailed(this.#pinned, fault);
  }

  #retry(protocol: Protocol, fault: ExchangeError): void {
    this.#failed(protocol, fault);
    this.#attemptAgain(fault);
  }

  #attemptAgain({ code, sent, message }: ExchangeError): void {
    if (this.#second) {
      this.#promoteSecondAttempt();
      return;
    }
    const { method, body } = this.#request;
    const action = nextAction({ method, hasBody: body !== null, code, sent, tried: this.#tried });
    // Over HTTP/3 libcurl 8.14 reports a response that it does not accept as a lost connection: another protocol shows what it is.
    if (action === 'refuse' && sent && code === 'protocol')
      this.#upstream.events.onUnforwardable(this.#pinned, message);
    if (action === 'refuse') this.#finish(() => this.#request.refuse());
    else if (action === 'fail') this.#finish(() => this.#request.fail());
    else this.#attempt(action);
  }

  #respond(exchange: Exchange, head: ResponseHead): void {
    const { protocol, status, headers } = head;
    const request = this.#request;
    if (status === 401 && bindsConnection(headers)) {
      this.#upstream.events.onUnforwardable(this.#pinned, 'the origin authenticates connections');
      this.#finish(() => {
        exchange.cancel();
        request.refuse();
      });
      return;
    }
    this.#headSeen = true;
    this.#stopWaiting();
    const { events } = this.#upstream;
    if (protocol === this.#pinned) events.onAnswered(this.#pinned);
    else if (this.#pinnedFault) events.onOtherAnswered(this.#pinned, this.#pinnedFault);
    const first = exchange.take();
    // Nothing of the response has gone to the browser: it may send the request itself.
    const orRefuse = (): void => (isRepeatable(request.method, true) ? request.refuse() : request.fail());
    if (exchange.arrivedTrailers?.length === 0) {
      this.#report(exchange, protocol, status);
      if (this.#forwards(() => request.answer(status, headers, first), orRefuse)) this.#finish();
      return;
    }
    if (!this.#forwards(() => request.head(status, headers, first), orRefuse)) return;
    this.#body = new BodyRelay({
      request,
      exchange,
      head,
      passedBytes: first?.length ?? 0,
      open: (rest) => this.#upstream.exchange(rest, request.target),
      onStalled: (late) => this.#askSomething(late),
      onOvertaken: (by) => events.onOvertaken(this.#pinned, by),
      onFailed: (fault) => this.#failed(protocol, fault),
      onEnd: (trailers, isResumed) => {
        if (!isResumed) this.#report(exchange, protocol, status);
        const write = (): void => request.end(trailers);
        if (this.#forwards(write, () => request.fail())) this.#finish();
      },
      onBrokenOff: () => this.#finish(() => request.fail()),
    });
  }

  #report({ figures }: Exchange, protocol: Protocol, status: number): void {
    if (figures === null) return;
    this.#upstream.events.onMeasured({ endedAtMs: Date.now(), protocol, status, ...figures });
  }

  /**
   * @param otherwise ends the request where the browser's side does not accept it
   * @returns whether it did
   */
  #forwards(write: () => unknown, otherwise: () => void): boolean {
    try {
      write();
      return true;
    } catch (fault) {
      this.#upstream.events.onUnforwardable(this.#pinned, (fault as Error).message);
      this.#finish(() => {
        this.#cancel();
        otherwise();
      });
      return false;
    }
  }

  #cancel(): void {
    if (this.#body) this.#body.cancel();
    else this.#exchange?.cancel();
  }

  #finish(last: () => void = () => {}): void {
    if (this.#over) return;
    this.#over = true;
    this.#stopWaiting();
    this.#dropSecondAttempt();
    last();
    this.#upstream.removeRelay(this);
  }
}
