/**
 * The flags by which every program takes figures of the network: names, bounds and parsing. A program's own command
 * line library only has to offer them.
 */
import type { KnownNetwork, Quantity, UdpTreatment } from '@hopwise/contract';
import { expectedQuantity, FRACTION, MEGABITS, MILLISECONDS, PACKETS, readQuantity } from '@hopwise/contract';
import { InputError, shown } from '../util/input-error.ts';
import { GIVEN_BOUNDS } from './bounds.ts';
import { parseUdp } from './udp-notation.ts';

/** Figures as the flags give them, in the units of the command line; absent where a flag is not given. */
export interface NetworkFlagValues {
  /** Round trip without queueing, milliseconds. */
  rtt?: number;
  /** Mbit/s. */
  down?: number;
  /** Mbit/s. */
  up?: number;
  /** Fraction per packet and direction. */
  loss?: number;
  /** Mean length of a burst of losses, packets. */
  lossBurst?: number;
  /** Time that a full queue takes to drain, milliseconds. */
  queue?: number;
  udp?: UdpTreatment;
}

/** One flag. */
export interface NetworkFlag {
  name: keyof NetworkFlagValues;
  /** The flag as a help text shows it, with the placeholder of its value: `--rtt <ms>`. */
  usage: string;
  description: string;
  /** @throws InputError saying what was expected */
  parse(text: string): number | UdpTreatment;
}

const megabits = quantityBetween(MEGABITS, GIVEN_BOUNDS.mbps);

export const NETWORK_FLAGS: readonly NetworkFlag[] = [
  {
    name: 'rtt',
    usage: '--rtt <ms>',
    description: 'round trip time without queueing',
    parse: quantityBetween(MILLISECONDS, GIVEN_BOUNDS.rtt),
  },
  { name: 'down', usage: '--down <mbit>', description: 'downstream rate', parse: megabits },
  { name: 'up', usage: '--up <mbit>', description: 'upstream rate', parse: megabits },
  {
    name: 'loss',
    usage: '--loss <fraction>',
    description: 'random loss per packet, each way, such as 0.01 or 1%',
    parse: quantityBetween(FRACTION, GIVEN_BOUNDS.loss),
  },
  {
    name: 'lossBurst',
    usage: '--loss-burst <packets>',
    description: 'mean length of a burst of losses; 1 for independent losses',
    parse: quantityBetween(PACKETS, GIVEN_BOUNDS.lossBurst),
  },
  {
    name: 'queue',
    usage: '--queue <ms>',
    description: "time that the bottleneck's full queue takes to drain",
    parse: quantityBetween(MILLISECONDS, GIVEN_BOUNDS.queueMs),
  },
  {
    name: 'udp',
    usage: '--udp <treatment>',
    description: 'open, blocked, or the Mbit/s to which UDP is held, such as 3 or 3mbit',
    parse: parseUdp,
  },
];

/**
 * The figures that the flags give, in the library's units. The queue is given as the time that it takes to drain, so
 * its bytes need the downstream rate.
 *
 * @param downBps returns the rate to use where `--down` is not given
 */
export function knownFrom(flags: NetworkFlagValues, downBps: () => number): KnownNetwork {
  const known: KnownNetwork = {};
  if (flags.rtt !== undefined) known.rttMs = flags.rtt;
  if (flags.down !== undefined) known.downBps = flags.down * 1e6;
  if (flags.up !== undefined) known.upBps = flags.up * 1e6;
  if (flags.loss !== undefined) known.loss = flags.loss;
  if (flags.lossBurst !== undefined) known.lossBurst = flags.lossBurst;
  if (flags.udp !== undefined) known.udp = flags.udp;
  if (flags.queue !== undefined) {
    known.queueBytes = Math.round((flags.queue / 8000) * (known.downBps ?? downBps()));
  }
  return known;
}

/** Makes a parser of quantities within bounds, which throws InputError saying what was expected. */
function quantityBetween(
  quantity: Quantity,
  bounds: readonly [min: number, max: number],
): (text: string) => number {
  return (text) => {
    const value = readQuantity(text, quantity);
    if (value >= bounds[0] && value <= bounds[1]) return value;
    throw new InputError(`expected ${expectedQuantity(quantity, bounds)}, got ${shown(text)}`);
  };
}
