import { PROTOCOL_NAME, type Prediction, type Protocol, type Recording } from '@hopwise/contract';
import { CAUSES, type CriticalStep, type ProtocolExplanation } from '@hopwise/pageload-emulator';
import { t } from '../../language/translate.ts';
import { builder } from '../../ui/dom.ts';
import { formatDurations, formatMs, formatUrl, keepUnitsTogether } from '../../ui/format.ts';
import { nameCause } from '../name-cause.ts';

const el = builder();

/** Causes of a smaller share of a step are not named. */
const MIN_CAUSE_SHARE = 0.05;

/**
 * What the load event of one emulated load waited for, each request with how long and why, in order of time.
 *
 * @param prediction whose time of the protocol the views show
 * @param most shows only so many, the longest
 */
export function renderCriticalChain(
  recording: Recording,
  prediction: Pick<Prediction, 'protocols'>,
  { criticalPath, explainedPltMs }: Pick<ProtocolExplanation, 'criticalPath' | 'explainedPltMs'>,
  protocol: Protocol,
  onSelect: (requestId: number) => void,
  most = Number.POSITIVE_INFINITY,
): HTMLElement {
  const steps = joinSteps(criticalPath);
  const totalMs = Math.max(1, explainedPltMs);
  const byLength = steps.toSorted((a, b) => lengthOf(b) - lengthOf(a));
  const longest = byLength[0];
  const kept = new Set(byLength.slice(0, most));
  const nameOf = ({ url }: CriticalStep) => formatUrl(url, recording.url, 60);
  const time = prediction.protocols[protocol];
  const predictedMs = 'pltMs' in time ? time.pltMs : explainedPltMs;
  const [total, predicted] = formatDurations(explainedPltMs, predictedMs);
  const shown = { protocol: PROTOCOL_NAME[protocol], total, predicted };
  // The prediction rests on more than this load: others, and what was measured.
  const takes = t(total === predicted ? 'chainTakes' : 'chainTakesOther', shown);
  const headline = longest
    ? `${takes} ${t('chainLongest', { name: nameOf(longest), time: formatMs(lengthOf(longest)) })}`
    : '';
  const rows = steps
    .filter((step) => kept.has(step))
    .map((step) => {
      const name = nameOf(step);
      const time = formatMs(lengthOf(step));
      const causes = describeCauses(step);
      const bar = el('span', { class: `hw-step-bar hw-of-${protocol}` });
      bar.style.left = `${(100 * step.fromMs) / totalMs}%`;
      bar.style.width = `${(100 * lengthOf(step)) / totalMs}%`;
      const row = el(
        'li',
        { class: `hw-critical-step${step === longest ? ' hw-longest' : ''}` },
        el(
          'button',
          {
            type: 'button',
            class: 'hw-row-name',
            title: step.url,
            'data-request': String(step.requestId),
          },
          name,
        ),
        el('span', { class: 'hw-step-time' }, keepUnitsTogether(t('chainWaits', { time }))),
        el('span', { class: 'hw-step-track', 'aria-hidden': 'true' }, bar),
        el(
          'span',
          { class: 'hw-step-causes', title: t('chainStep', { time, name, causes }) },
          keepUnitsTogether(causes),
        ),
      );
      // Enter and Space on the name's button click too.
      row.addEventListener('click', () => onSelect(step.requestId));
      return row;
    });
  return el(
    'div',
    { class: 'hw-chain-view' },
    el('p', { class: 'hw-chain-headline' }, keepUnitsTogether(headline)),
    el('ol', { class: 'hw-critical-chain', 'aria-label': t('chainLabel') }, ...rows),
  );
}

const lengthOf = ({ fromMs, toMs }: CriticalStep) => toMs - fromMs;

/** Joins steps of one request that follow each other: its response, and the work on it. */
export function joinSteps(path: readonly CriticalStep[]): CriticalStep[] {
  const joined: CriticalStep[] = [];
  for (const step of path) {
    const last = joined.at(-1);
    if (last?.requestId !== step.requestId) joined.push(step);
    else {
      const causes = { ...last.causes };
      for (const cause of CAUSES) {
        const ms = (causes[cause] ?? 0) + (step.causes[cause] ?? 0);
        if (ms > 0) causes[cause] = ms;
      }
      joined[joined.length - 1] = { ...last, toMs: step.toMs, causes };
    }
  }
  return joined;
}

/** `640 ms server processing, 300 ms round trips of requests`, the longest first. */
function describeCauses({ causes, fromMs, toMs }: CriticalStep): string {
  return CAUSES.filter((cause) => (causes[cause] ?? 0) > MIN_CAUSE_SHARE * (toMs - fromMs))
    .sort((a, b) => causes[b]! - causes[a]!)
    .map((cause) => `${formatMs(causes[cause]!)} ${nameCause(cause)}`)
    .join(', ');
}
