import type { Decision } from '@hopwise/contract';
import type { PinGain } from '../evidence/pin-outcomes.ts';
import { plural, t } from '../language/translate.ts';
import { formatDurations } from './format.ts';

/** `With these pins: 4.3 s → 1.5 s, measured over 3 loads.`; null for too few loads to state an effect. */
export function describePinGain({
  beforeMs,
  afterMs,
  beforeLoads,
  afterLoads,
  effect,
}: PinGain): string | null {
  const [before, after] = formatDurations(beforeMs, afterMs);
  const values = { before, after, loads: plural('loads', beforeLoads + afterLoads) };
  switch (effect) {
    case 'gains':
      return beforeLoads === 0 ? t('pinsGainEstimated', values) : t('pinsGain', values);
    case 'harms':
      return t('pinsHarm', values);
    case 'nothing':
      return t('pinsGainNothing', values);
    case 'unclear':
      return null;
  }
}

/** An action in place of pins that help must load the page sooner than they do, by this share of the load time. */
const MIN_FURTHER_GAIN = 0.05;

/**
 * The decision, unless pins have been measured to help and its action promises no more: it was compared with a browser without
 * pins.
 */
export function decideBeyondPins(decision: Decision, pinGain: PinGain | null): Decision | null {
  const isEnough =
    pinGain?.effect !== 'gains' || decision.action.time.pltMs < (1 - MIN_FURTHER_GAIN) * pinGain.afterMs;
  return isEnough ? decision : null;
}
