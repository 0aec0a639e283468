import type { Autopilot } from '../autopilot/autopilot.ts';
import { findPinGain, type PinGain } from '../evidence/pin-outcomes.ts';
import type { KnownLoad } from '../load/load-summary.ts';
import type { StoredLoad } from '../storage/loads.ts';

/**
 * Finds what the pins of a load gained, also compared with what the autopilot measured before it made them.
 *
 * @param all stored loads, oldest first
 */
export async function findGain(
  load: StoredLoad,
  all: readonly KnownLoad[],
  autopilot: Pick<Autopilot, 'readReferences'>,
): Promise<PinGain | null> {
  const referenceOf = await autopilot.readReferences();
  return findPinGain(load, all, referenceOf(load));
}
