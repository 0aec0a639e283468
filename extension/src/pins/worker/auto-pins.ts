import {
  type MeasuredExchange,
  messageOf,
  type PinState,
  type Protocol,
  SerialQueue,
} from '@hopwise/contract';
import {
  ExchangeFeatures,
  type TimedRequest,
  type TimedTransport,
  TransportChooser,
  transportOf,
} from '@hopwise/model';
import { HelperError } from '../../helper/helper-port.ts';

/** HTTP/1.1 is never steered to: HTTP/2 has fewer connections to open, over the same transport. */
const PROTOCOL_OF: Record<TimedTransport, Protocol> = { tcp: 'h2', quic: 'h3' };

/** A smaller difference is not worth a switch: log(time over TCP / time over QUIC). */
const MIN_LOG_RATIO = Math.log(1.05);

interface AutoPinsOptions {
  /** Sends the next requests to an origin under a protocol. @throws HelperError where it does not answer under it */
  steer(origin: string, protocol: Protocol): Promise<void>;
  /** Whether nothing that is known of the network speaks against QUIC. */
  mayTryQuic(): Promise<boolean>;
  /**
   * Trees over the features of an origin's requests.
   *
   * @returns log(time over TCP / time over QUIC) of the next ones; null where they have no say
   */
  predict(row: Float32Array, transport: TimedTransport): Promise<number | null>;
  /** No origin needs the trees any more. */
  releaseTrees(): Promise<void>;
}

/** What is known of an origin's requests. */
class Steered {
  readonly chooser = new TransportChooser();
  readonly reports = new SerialQueue();
  readonly #features = new ExchangeFeatures();
  /** At the newest request over each transport. */
  readonly #rows = new Map<TimedTransport, Float32Array>();

  /** Adds requests that succeeded. */
  add(exchanges: readonly MeasuredExchange[]): void {
    for (const exchange of exchanges) this.#rows.set(transportOf(exchange), this.#features.add(exchange));
  }

  /** The features of the requests over the present transport; null without any. */
  get row(): Float32Array | null {
    return this.#rows.get(this.chooser.transport) ?? null;
  }
}

/** Steers the origins of `auto` pins while their requests flow: from what the helper has measured to the protocol of the next requests. */
export class AutoPins {
  readonly #options: AutoPinsOptions;
  readonly #origins = new Map<string, Steered>();
  /** Origins with such a pin; null until pins have changed. */
  #pinned: ReadonlySet<string> | null = null;
  /** Origins of which the helper has yet to answer. */
  readonly #steering = new Set<string>();

  constructor(options: AutoPinsOptions) {
    this.#options = options;
  }

  /**
   * To be called when pins have changed: forgets origins that no longer have such a pin, and follows a helper that has fallen back to
   * HTTP/2 because HTTP/3 stopped working.
   */
  handlePins(pins: readonly Pick<PinState, 'origin' | 'kind' | 'protocol'>[]): void {
    this.#pinned = new Set(pins.filter(({ kind }) => kind === 'auto').map(({ origin }) => origin));
    for (const [origin, { chooser }] of this.#origins) {
      const pin = pins.find((each) => each.kind === 'auto' && each.origin === origin);
      if (pin === undefined) this.#origins.delete(origin);
      else if (
        pin.protocol === PROTOCOL_OF.tcp &&
        chooser.transport === 'quic' &&
        !this.#steering.has(origin)
      )
        // Whether HTTP/3 stopped for good shows when it is steered to once more.
        chooser.undoSwitch(Date.now(), false);
    }
    if (this.#pinned.size === 0) void this.#options.releaseTrees();
  }

  /** The network is another one: what was shown on the former does not hold, and each origin begins anew. */
  async restart(): Promise<void> {
    const steered = [...this.#origins].filter(([, { chooser }]) => chooser.transport === 'quic');
    this.#origins.clear();
    for (const [origin] of steered) {
      await this.#options.steer(origin, PROTOCOL_OF.tcp).catch((error) => {
        console.warn(`hopwise: ${origin} stays as it is: ${messageOf(error)}`);
      });
    }
  }

  /** To be called with each report of the helper, in order. Does not throw: the requests go on as before. */
  async handle(origin: string, exchanges: readonly MeasuredExchange[]): Promise<void> {
    // The last report comes after the end of its pin.
    if (this.#pinned?.has(origin) === false) return;
    const steered = this.#origins.get(origin) ?? new Steered();
    this.#origins.set(origin, steered);
    await steered.reports.run(() => this.#handle(origin, steered, exchanges));
  }

  async #handle(origin: string, steered: Steered, exchanges: readonly MeasuredExchange[]): Promise<void> {
    if (this.#origins.get(origin) !== steered) return;
    const succeeded = exchanges.filter(({ status, completionMs }) => status < 400 && completionMs > 0);
    steered.add(succeeded);
    const { chooser } = steered;
    const preferred = await this.#findPreferred(steered);
    const choice = chooser.add(succeeded.map(requestOf), await this.#options.mayTryQuic(), preferred);
    // The network may have changed meanwhile, or the pin ended.
    if (choice === null || this.#origins.get(origin) !== steered) return;
    this.#steering.add(origin);
    try {
      await this.#options.steer(origin, PROTOCOL_OF[choice.transport]);
    } catch (error) {
      console.warn(`hopwise: ${origin} stays as it is: ${messageOf(error)}`);
      chooser.undoSwitch(Date.now(), error instanceof HelperError && error.code === 'unavailable');
    } finally {
      this.#steering.delete(origin);
    }
  }

  /** What the trees prefer for an origin's next requests; null where they have no say. */
  async #findPreferred({ row, chooser: { transport } }: Steered): Promise<TimedTransport | null> {
    const logRatio = row === null ? null : await this.#options.predict(row, transport);
    if (logRatio === null) return null;
    if (Math.abs(logRatio) < MIN_LOG_RATIO) return transport;
    return logRatio > 0 ? 'quic' : 'tcp';
  }
}

function requestOf(exchange: MeasuredExchange): TimedRequest {
  const { endedAtMs, ttfbMs, completionMs, bodyBytes } = exchange;
  return { endedAtMs, transport: transportOf(exchange), ttfbMs, completionMs, bodyBytes };
}
