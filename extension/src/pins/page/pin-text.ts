import { EVERY_ORIGIN, type PinState, type PinWait } from '@hopwise/contract';
import type { PinGain, PinOutcome } from '../../evidence/pin-outcomes.ts';
import { currentLocale, type PlainKey, plural, t } from '../../language/translate.ts';
import { formatDurations, formatOrigin, keepUnitsTogether, nameVersion } from '../../ui/format.ts';

const WAITS: Record<PinWait, PlainKey> = {
  proxy: 'pinWaitsProxy',
  trust: 'pinWaitsTrust',
  answer: 'pinWaitsAnswer',
};

/** One sentence: what a pin does and until when, or why it ended. @param count origins with a pin like this one */
export function describePin(pin: PinState, nowMs = Date.now(), count = 1): string {
  const { origin, kind, state, waitsFor } = pin;
  const name = count === 1 ? formatOrigin(origin) : plural('origins', count);
  if (state === 'lifted') {
    const again =
      origin === EVERY_ORIGIN
        ? t('pinAvoidAllLifted')
        : kind === 'avoid-h3'
          ? plural('pinAvoidLifted', count, { name })
          : plural('pinHoldLifted', count, { name, protocol: nameVersion(kind) });
    return `${again}${pin.reason === '' ? '.' : `: ${pin.reason}`}`;
  }
  const until = describeEnd(pin, nowMs);
  if (origin === EVERY_ORIGIN) return t('pinAvoidsAll', { until });
  if (state === 'waiting') {
    const reason = waitsFor ? t(WAITS[waitsFor]) : pin.reason;
    return kind === 'avoid-h3'
      ? plural('pinWillAvoid', count, { name, until, reason })
      : plural('pinWillHold', count, { name, until, reason, protocol: nameVersion(kind) });
  }
  return kind === 'avoid-h3'
    ? plural('pinAvoids', count, { name, until })
    : plural('pinHeld', count, { name, until, protocol: nameVersion(kind) });
}

/** What a pin gained: `4.3 s → 2.3 s, measured over 3 loads before and 2 after: it saves 1.6 to 2.3 s.` */
export function describeOutcome(outcome: Omit<PinOutcome, 'origin' | 'kind'>): string {
  const { beforeMs, afterMs, beforeLoads, afterLoads, savedMs } = outcome;
  const [before, after] = formatDurations(beforeMs, afterMs);
  const effect = describeEffect(outcome.effect, savedMs.low, savedMs.high);
  return keepUnitsTogether(
    beforeLoads === 0
      ? plural('outcomeEstimated', afterLoads, { before, after, effect })
      : t('outcomeMeasured', {
          before,
          after,
          earlier: plural('loads', beforeLoads),
          later: afterLoads,
          effect,
        }),
  );
}

/** Whether the loads show that pins should be lifted. */
export function isUseless(outcome: Pick<PinGain, 'effect'> | null | undefined): boolean {
  return outcome?.effect === 'nothing' || outcome?.effect === 'harms';
}

function describeEffect(effect: PinOutcome['effect'], lowMs: number, highMs: number): string {
  switch (effect) {
    case 'gains': {
      const [low, high] = formatDurations(lowMs, highMs);
      return t('outcomeGains', { low, high });
    }
    case 'harms': {
      const [low, high] = formatDurations(-highMs, -lowMs);
      return t('outcomeHarms', { low, high });
    }
    case 'nothing':
      return t('outcomeNothing');
    case 'slower-once':
    case 'unclear':
      return t('outcomeUnclear');
  }
}

/** When the first of several pins ends. */
export function describeEarliestEnd(pins: readonly PinState[], nowMs = Date.now()): string {
  const [first] = pins.toSorted((a, b) => (a.expiresAtMs ?? Infinity) - (b.expiresAtMs ?? Infinity));
  if (first === undefined) return '';
  const persistent = pins.every((pin) => pin.persistent);
  return describeEnd({ ...first, persistent }, nowMs);
}

function describeEnd(
  { expiresAtMs, persistent }: Pick<PinState, 'expiresAtMs' | 'persistent'>,
  nowMs: number,
): string {
  if (expiresAtMs === null) return persistent ? t('untilRemoved') : t('untilClosed');
  const time = formatEnd(expiresAtMs, nowMs);
  return persistent ? t('untilTime', { time }) : t('untilTimeOrClosed', { time });
}

function formatEnd(expiresAtMs: number, nowMs: number): string {
  // Of another day the time alone could be taken for one of today.
  const isToday = new Date(expiresAtMs).toDateString() === new Date(nowMs).toDateString();
  const options: Intl.DateTimeFormatOptions = isToday
    ? { hour: '2-digit', minute: '2-digit' }
    : { weekday: 'short', day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' };
  return new Intl.DateTimeFormat(currentLocale(), options).format(new Date(expiresAtMs));
}
