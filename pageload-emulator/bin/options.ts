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
 * @param downBps tells the rate to use where no `--down` is given
 */
export function knownFrom(flags: NetworkFlags, downBps: () => number): KnownNetwork {
  const known: KnownNetwork = {};
  if (flags.rtt !== undefined) known.rttMs = flags.rtt;
  if (flags.down !== undefined) known.downBps = flags.down * 1e6;
  if (flags.up !== undefined) known.upBps = flags.up * 1e6;
  if (flags.loss !== undefined) known.loss = flags.loss;
  if (flags.udp !== undefined) known.udp = flags.udp;
  if (flags.queue !== undefined) {
    known.queueBytes = Math.round((flags.queue / 8000) * (known.downBps ?? downBps()));
  }
  return known;
}

const CONTROLS: readonly CongestionControl[] = ['cubic', 'reno', 'bbr', 'hybla'];
const MOST_PACKETS = 1_000;
const MOST_MBPS = 100_000;
const MOST_SHARE = 100;

/** Collects `iw=32`, `cc=bbr`, `start=20mbit`, `start=2x`: what changed servers would change. */
export function serverChange(text: string, before: ServerChange | undefined): ServerChange {
  const at = text.indexOf('=');
  const change = changeOf(text.slice(0, Math.max(0, at)), text.slice(at + 1));
  if (change === null) {
    throw new InvalidArgumentError(
      `expected iw=PACKETS (1 to ${MOST_PACKETS}), cc=${CONTROLS.join('|')}, start=MBITmbit or start=FACTORx, got "${text}".`,
    );
  }
  return { ...before, ...change };
}

function changeOf(name: string, value: string): ServerChange | null {
  if (name === 'iw') {
    const initialWindow = Number(value);
    const isUsable = Number.isInteger(initialWindow) && initialWindow >= 1 && initialWindow <= MOST_PACKETS;
    return isUsable ? { initialWindow } : null;
  }
  if (name === 'cc') {
    const congestionControl = CONTROLS.find((control) => control === value);
    return congestionControl === undefined ? null : { congestionControl };
  }
  if (name !== 'start') return null;
  const [, digits, unit] = /^(\d+(?:\.\d+)?)(mbit|x)$/.exec(value) ?? [];
  const number = Number(digits);
  if (unit === 'mbit' && number >= 0.01 && number <= MOST_MBPS) return { startBps: number * 1e6 };
  if (unit === 'x' && number >= 0.01 && number <= MOST_SHARE) return { startShare: number };
  return null;
}
