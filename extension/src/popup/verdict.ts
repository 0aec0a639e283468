import type { Prediction } from '@hopwise/contract';
import type { PinGain } from '../evidence/pin-outcomes.ts';
import { listPinnedProtocols } from '../evidence/pinned-protocols.ts';
import { t } from '../language/translate.ts';
import type { StoredLoad } from '../storage/loads.ts';
import { builder } from '../ui/dom.ts';
import { createDurationFormat, keepUnitsTogether } from '../ui/format.ts';
import { describeHeadline, findHeadlineTimes, type HeadlineTimes } from '../ui/headline.ts';

/** What a person gains, why, and the load times of both as bars. */
export function renderVerdict(
  prediction: Prediction,
  load: StoredLoad,
  pinGain: PinGain | null,
): HTMLElement {
  const el = builder();
  const pinned = listPinnedProtocols(load);
  const { lead, why } = describeHeadline(prediction, pinGain, pinned);
  const attributes = {
    class: 'hw-verdict',
    'data-decision': prediction.decision.kind,
    'data-pins': pinGain?.effect ?? 'none',
  };
  return el(
    'div',
    attributes,
    el('h2', { class: 'hw-headline' }, keepUnitsTogether(lead)),
    why === '' ? null : el('p', { class: 'hw-why' }, keepUnitsTogether(why)),
    renderBars(
      findHeadlineTimes(prediction, pinGain, pinned),
      pinGain !== null || Object.keys(pinned).length > 0,
    ),
  );
}

/** @param hadPins whether the load had pins, so that the time of the browser itself is not its own */
function renderBars({ ownMs, hopwiseMs }: HeadlineTimes, hadPins: boolean): HTMLElement {
  const el = builder();
  const rows: { name: string; ms: number; kind: string }[] = [
    ...(ownMs === null ? [] : [{ name: nameOwn(hopwiseMs, hadPins), ms: ownMs, kind: 'own' }]),
    ...(hopwiseMs === null ? [] : [{ name: t('popupWith'), ms: hopwiseMs, kind: 'hopwise' }]),
  ];
  const longestMs = Math.max(1, ...rows.map(({ ms }) => ms));
  const write = createDurationFormat(longestMs);
  return el(
    'dl',
    { class: 'hw-load-bars' },
    ...rows.map(({ name, ms, kind }) => {
      const style = `width: ${((100 * ms) / longestMs).toFixed(1)}%`;
      const bar = el('span', { class: `hw-load-bar hw-load-bar-${kind}`, style });
      return el(
        'div',
        {},
        el('dt', {}, name),
        el('dd', { 'aria-hidden': 'true' }, bar),
        el('dd', {}, keepUnitsTogether(write(ms))),
      );
    }),
  );
}

function nameOwn(hopwiseMs: number | null, hadPins: boolean): string {
  if (hadPins) return t('popupWithout');
  return t(hopwiseMs === null ? 'popupThisPage' : 'popupNow');
}
