import type { UdpNotation, UdpTreatment } from '@hopwise/contract';
import { expectedQuantity, MEGABITS, readQuantity } from '@hopwise/contract';
import { InputError, shown } from '../util/input-error.ts';
import { GIVEN_BOUNDS } from './bounds.ts';

/** A treatment of UDP as JSON and command lines write it. */
export function udpNotation(udp: UdpTreatment): UdpNotation {
  return udp.kind === 'policed' ? udp.bps / 1e6 : udp.kind;
}

/** The treatment that a notation stands for. */
export function udpTreatment(notation: Exclude<UdpNotation, 'lossy'>): UdpTreatment {
  return typeof notation === 'number'
    ? { kind: 'policed', bps: Math.round(notation * 1e6) }
    : { kind: notation };
}

/**
 * Reads `open`, `blocked`, or the rate in Mbit/s to which UDP is held.
 *
 * @throws InputError saying what was expected
 */
export function parseUdp(text: string): UdpTreatment {
  if (text === 'open' || text === 'blocked') return udpTreatment(text);
  const mbps = readQuantity(text, MEGABITS);
  const [min, max] = GIVEN_BOUNDS.mbps;
  if (!(mbps >= min && mbps <= max)) {
    const rate = expectedQuantity(MEGABITS, GIVEN_BOUNDS.mbps);
    throw new InputError(`expected open, blocked, or ${rate}, got ${shown(text)}`);
  }
  return udpTreatment(mbps);
}
