import type { Action, Decision, Prediction } from '@hopwise/contract';
import type { PinGain } from '../evidence/pin-outcomes.ts';
import { formatNumber } from '../language/format-number.ts';
import { t } from '../language/translate.ts';
import { formatDurations, formatShare, roundAsShown } from './format.ts';

/** What is said first about a load. */
export interface Headline {
  /** What a person gains, in one sentence. */
  lead: string;
  /** Why, or what is left to do; '' for nothing. */
  why: string;
}

/** From this ratio of load times on, a gain is written as "times as fast", below in percent. */
const MIN_TIMES = 1.5;
/** From this ratio on it is written without decimals. */
const MIN_WHOLE_TIMES = 3;

/** What measured loads with pins show, as a headline: `5× faster: 25 s → 5.2 s, measured.` */
export function describePinGain({ beforeMs, afterMs, beforeLoads, effect }: PinGain): Headline {
  const [before, after] = formatDurations(beforeMs, afterMs);
  const values = { before, after };
  const isEstimated = beforeLoads === 0;
  switch (effect) {
    case 'gains': {
      const gain = describeRatio(beforeMs, afterMs);
      const lead = isEstimated
        ? t('pinsGainEstimated', { ...values, gain })
        : t('pinsGain', { ...values, gain });
      return { lead, why: '' };
    }
    case 'harms':
      return { lead: t('pinsHarm', values), why: t('pinsUndoIt') };
    case 'slower-once':
      return { lead: t('pinsSlowerOnce', values), why: t('pinsOneMore') };
    case 'nothing':
      return { lead: t('pinsGainNothing', values), why: t('pinsUndoIt') };
    case 'unclear':
      return {
        lead: isEstimated ? t('pinsUnclearEstimated', values) : t('pinsUnclear', values),
        why: t('pinsMoreLoads'),
      };
  }
}

/** `5× faster`, or `20% faster`, which is the share of the load time that is saved: of the load times as they are shown with it. */
export function describeRatio(beforeMs: number, afterMs: number): string {
  const shown = roundAsShown(beforeMs, afterMs);
  const [before, after] = shown[1] === 0 ? [beforeMs, afterMs] : shown;
  const ratio = before / after;
  if (ratio < MIN_TIMES) return t('fasterBy', { share: formatShare(1 - after / before) });
  const digits = ratio < MIN_WHOLE_TIMES ? 1 : 0;
  const times = formatNumber(ratio, { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return t('fasterTimes', { times });
}

/** An action in place of pins that help must load the page sooner than they do, by this share of the load time. */
const MIN_FURTHER_GAIN = 0.05;

/**
 * The decision, unless pins have been measured to help, or promise to, and its action promises no more: it was compared with a browser
 * without pins. Null also where they have been measured not to help: the one thing to do is then to undo them, and a load without them follows;
 * or where one more load with them will tell.
 *
 * @param promised what the pins in force do, where that is another action
 */
export function decideBeyondPins(
  decision: Decision,
  pinGain: PinGain | null,
  promised: Action | null = null,
): Decision | null {
  const decideFurther = (withPinsMs: number) =>
    decision.action.time.pltMs < (1 - MIN_FURTHER_GAIN) * withPinsMs ? decision : null;
  switch (pinGain?.effect) {
    case 'gains':
      return decideFurther(pinGain.afterMs);
    case 'harms':
    case 'nothing':
    case 'slower-once':
      return null;
    default:
      return promised === null ? decision : decideFurther(promised.time.pltMs);
  }
}

/** A prediction of which the headline names what the pins in force promise. */
export function promisedBy<P extends Pick<Prediction, 'decision'>>(
  prediction: P,
  promised: Action | null,
): P {
  return promised === null
    ? prediction
    : { ...prediction, decision: { ...prediction.decision, action: promised } };
}
