import { durations } from '@hopwise/pageload-emulator';
import type { PinGain } from '../evidence/pin-outcomes.ts';
import { formatCount } from './format.ts';

/** `With these pins: 4.3 s → 1.5 s, measured over 3 loads.`; null for too few loads to state an effect. */
export function describePinGain({
  beforeMs,
  afterMs,
  beforeLoads,
  afterLoads,
  effect,
}: PinGain): string | null {
  if (effect === 'unclear') return null;
  const [before, after] = durations(beforeMs, afterMs);
  return `${LEAD[effect]}: ${before} → ${after}, measured over ${formatCount(beforeLoads + afterLoads, 'load')}.`;
}

const LEAD = {
  gains: 'With these pins',
  harms: 'These pins slow the page down',
  nothing: 'These pins gain nothing',
} as const;
