import type { CongestionControl, KnownNetwork, ServerChange } from '@hopwise/pageload-emulator';
import { InvalidArgumentError } from 'commander';

/** Network flags as commander gives them, each already in the library's units. */
export interface NetworkFlags {
  rtt?: number;
  down?: number;
  up?: number;
  loss?: number;
  queue?: number;
  udp?: KnownNetwork['udp'];
}

/** Reads a number within bounds. */
export function numberBetween(least: number, most: number, unit: string): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() === '' || !(value >= least && value <= most)) {
      throw new InvalidArgumentError(`expected ${unit} from ${least} to ${most}, got "${text}".`);
    }
    return value;
  };
}

/** `open`, `blocked`, or the rate in Mbit/s to which UDP is held. */
export function udpTreatment(text: string): NonNullable<KnownNetwork['udp']> {
  if (text === 'open' || text === 'blocked') return { kind: text };
  const mbps = Number(text);
  if (text.trim() === '' || !(mbps >= 0.01 && mbps <= 100_000)) {
    throw new InvalidArgumentError(`expected open, blocked, or Mbit/s from 0.01 to 100000, got "${text}".`);
  }
  return { kind: 'policed', bps: mbps * 1e6 };
}

/**
 * What the flags say of the network. The queue is given as the time that it takes to drain, so its
 * bytes need the downstream rate.
 *
 * @param downBps the rate to use where no `--down` is given
 */
export function knownFrom(flags: NetworkFlags, downBps: number): KnownNetwork {
  const known: KnownNetwork = {};
  if (flags.rtt !== undefined) known.rttMs = flags.rtt;
  if (flags.down !== undefined) known.downBps = flags.down * 1e6;
  if (flags.up !== undefined) known.upBps = flags.up * 1e6;
  if (flags.loss !== undefined) known.loss = flags.loss;
  if (flags.udp !== undefined) known.udp = flags.udp;
  if (flags.queue !== undefined) {
    known.queueBytes = Math.round((flags.queue / 8000) * (known.downBps ?? downBps));
  }
  return known;
}

const CONTROLS: readonly CongestionControl[] = ['cubic', 'reno', 'bbr', 'hybla'];
const MOST_PACKETS = 1_000;
const MOST_MBPS = 10_000;

/** Collects `iw=32`, `bw=20`, `cc=bbr`: what changed servers would change. */
export function serverChange(text: string, before: ServerChange | undefined): ServerChange {
  const [name, value = ''] = text.split('=', 2) as [string, string | undefined];
  const packets = Number(value);
  if (name === 'iw' && Number.isInteger(packets) && packets >= 1 && packets <= MOST_PACKETS) {
    return { ...before, initialWindow: packets };
  }
  const mbps = Number(value);
  if (name === 'bw' && mbps > 0 && mbps <= MOST_MBPS) return { ...before, startBps: mbps * 1e6 };
  const congestionControl = CONTROLS.find((control) => control === value);
  if (name === 'cc' && congestionControl !== undefined) return { ...before, congestionControl };
  throw new InvalidArgumentError(
    `expected iw=PACKETS (1 to ${MOST_PACKETS}), bw=MBIT (to ${MOST_MBPS}) or cc=${CONTROLS.join('|')}, got "${text}".`,
  );
}
