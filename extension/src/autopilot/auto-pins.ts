import { type MeasuredExchange, messageOf, type PinState, type Protocol } from '@hopwise/contract';
import { type TimedRequest, type TimedTransport, TransportChooser } from '@hopwise/model';
import { HelperError } from '../helper/helper-port.ts';

/** HTTP/1.1 is never steered to: HTTP/2 has fewer connections to open, over the same transport. */
const PROTOCOL_OF: Record<TimedTransport, Protocol> = { tcp: 'h2', quic: 'h3' };

interface AutoPinsOptions {
  /** Sends the next requests to an origin under a protocol. @throws HelperError where it does not answer under it */
  steer(origin: string, protocol: Protocol): Promise<void>;
  /** Whether nothing that is known of the network speaks against QUIC. */
  mayTryQuic(): Promise<boolean>;
}

/** Steers the origins of `auto` pins while their requests flow: from what the helper has measured to the protocol of the next requests. */
export class AutoPins {
  readonly #options: AutoPinsOptions;
  readonly #choosers = new Map<string, TransportChooser>();
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
    for (const [origin, chooser] of this.#choosers) {
      const pin = pins.find((each) => each.kind === 'auto' && each.origin === origin);
      if (pin === undefined) this.#choosers.delete(origin);
      else if (
        pin.protocol === PROTOCOL_OF.tcp &&
        chooser.transport === 'quic' &&
        !this.#steering.has(origin)
      )
        chooser.undoSwitch(Date.now(), true);
    }
  }

  /** The network is another one: what was shown on the former does not hold, and each origin begins anew. */
  async restart(): Promise<void> {
    const steered = [...this.#choosers].filter(([, { transport }]) => transport === 'quic');
    this.#choosers.clear();
    for (const [origin] of steered) {
      await this.#options.steer(origin, PROTOCOL_OF.tcp).catch((error) => {
        console.warn(`hopwise: ${origin} stays as it is: ${messageOf(error)}`);
      });
    }
  }

  /** To be called with each report of the helper, in order. Does not throw: the requests go on as before. */
  async handle(origin: string, exchanges: readonly MeasuredExchange[]): Promise<void> {
    const chooser = this.#choosers.get(origin) ?? new TransportChooser();
    this.#choosers.set(origin, chooser);
    const requests = exchanges.filter(({ status }) => status < 400).map(requestOf);
    const choice = chooser.add(requests, await this.#options.mayTryQuic());
    if (choice === null) return;
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
}

function requestOf({ endedAtMs, protocol, ttfbMs, completionMs, bodyBytes }: MeasuredExchange): TimedRequest {
  return { endedAtMs, transport: protocol === 'h3' ? 'quic' : 'tcp', ttfbMs, completionMs, bodyBytes };
}
