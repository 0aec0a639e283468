import { type Assignment, PROTOCOL_NAME, type Prediction } from '@hopwise/contract';
import { isLong, promisingAction, reasonToLeave, surenessOf, timeByItself } from '@hopwise/pageload-emulator';
import type { PinGain } from '../evidence/pin-outcomes.ts';
import { t } from '../language/translate.ts';
import { formatDuration, formatDurations, formatOrigin, formatShare } from './format.ts';
import { likeliestUdp } from './network-view.ts';
import { isNoticeable } from './noticeable.ts';
import { isVerified } from './origin-advice.ts';
import { describePinGain, type Headline } from './pin-gain.ts';

/** The load times that a headline compares, milliseconds. */
export interface HeadlineTimes {
  /** By the browser itself; null where it is not known. */
  ownMs: number | null;
  /** With hopwise; null where there is nothing to do. */
  hopwiseMs: number | null;
}

/** What a headline needs of a prediction. */
type Predicted = Pick<Prediction, 'decision' | 'fit' | 'network' | 'observed' | 'page'>;

/**
 * What to do and what it gains, or what the load's pins have gained.
 *
 * @param pinned protocols that the load's pins held its origins to
 */
export function describeHeadline(
  prediction: Predicted,
  pinGain: PinGain | null = null,
  pinned: Assignment | null = null,
): Headline {
  if (pinGain) return describePinGain(pinGain);
  const doneMs = findDoneMs(prediction, pinned);
  if (doneMs === null) return describeDecision(prediction, pinned);
  return { lead: t('headlineDone', { time: formatDuration(doneMs) }), why: t('pinsMoreLoads') };
}

/** The headline as one text. Its parameters are those of `describeHeadline`. */
export function writeHeadline(...of: Parameters<typeof describeHeadline>): string {
  const { lead, why } = describeHeadline(...of);
  return `${lead} ${why}`.trim();
}

/** The load times of the headline. Its parameters are those of `describeHeadline`. */
export function findHeadlineTimes(
  prediction: Predicted,
  pinGain: PinGain | null = null,
  pinned: Assignment | null = null,
): HeadlineTimes {
  if (pinGain) return { ownMs: pinGain.beforeMs, hopwiseMs: pinGain.afterMs };
  const doneMs = findDoneMs(prediction, pinned);
  if (doneMs !== null) return { ownMs: null, hopwiseMs: doneMs };
  const { decision, observed } = prediction;
  const isFree = Object.keys(pinned ?? {}).length === 0;
  const seenMs = isFree ? observed.pltMs : null;
  if (decision.kind !== 'act') return { ownMs: seenMs ?? decision.baseline.pltMs, hopwiseMs: null };
  return { ownMs: timeByItself(decision, seenMs), hopwiseMs: decision.action.time.pltMs };
}

/** What the recorded load took, if its pins did what the decision recommends; null otherwise. */
function findDoneMs({ decision, observed }: Predicted, pinned: Assignment | null): number | null {
  const { kind, action } = decision;
  const isDone = action.origins.every((origin) => pinned?.[origin] === action.assignment[origin]);
  return kind === 'act' && isDone ? observed.pltMs : null;
}

function describeDecision(prediction: Predicted, pinned: Assignment | null = null): Headline {
  switch (prediction.decision.kind) {
    case 'act':
      return describeGain(prediction, pinned);
    case 'unsure':
      return isUnderstood(prediction) ? describeHope(prediction) : describeMisfit(prediction);
    case 'leave':
      return isUnderstood(prediction) ? describeRest(prediction) : describeMisfit(prediction);
  }
}

function describeGain(prediction: Predicted, pinned: Assignment | null): Headline {
  const { action, baseline } = prediction.decision;
  const { ownMs, hopwiseMs } = findHeadlineTimes(prediction, null, pinned);
  const [before, after] = formatDurations(ownMs!, hopwiseMs!);
  const lead = {
    measured: t('headlineMeasured', { before, after }),
    sure: t('headlineGain', { before, after }),
    likely: t('headlineLikely', { before, after }),
  }[surenessOf(action)];
  const cause = describeCause(prediction);
  if (!isNoticeable(baseline.laterPltMs, ownMs!)) return { lead, why: cause };
  // The icon may show what later visits gain.
  return { lead, why: `${cause} ${t('headlineLater', { time: formatDuration(baseline.laterPltMs) })}` };
}

/** Why the browser's own choice is slower than the action, no surer than the gain is. */
function describeCause({ decision: { action }, network }: Predicted): string {
  const udp = likeliestUdp(network);
  const isLikely = surenessOf(action) === 'likely';
  if (action.kind === 'avoid-h3') {
    if (udp === 'blocked') return t('causeBlocked');
    if (udp === 'open') return t(isLikely ? 'causeSlowerH3Likely' : 'causeSlowerH3');
    return t(isLikely ? 'causeSlowedDownLikely' : 'causeSlowedDown');
  }
  if (action.protocol === null) return t(isLikely ? 'causeMixLikely' : 'causeMix');
  return t(isLikely ? 'causeFasterLikely' : 'causeFaster', { protocol: PROTOCOL_NAME[action.protocol] });
}

function describeHope({ decision }: Predicted): Headline {
  const action = promisingAction(decision.actions);
  if (action === null) return { lead: t('headlineNotYet'), why: '' };
  const values = { gain: formatDuration(action.gainMs), chance: formatShare(action.helps) };
  const hope =
    action.kind === 'avoid-h3'
      ? t('hopeWithoutH3', values)
      : action.protocol === null
        ? t('hopeMix', values)
        : t('hopeOver', { ...values, protocol: PROTOCOL_NAME[action.protocol] });
  const why = `${hope} ${t(isVerified(decision) ? 'hopeVerified' : 'hopeVerify')}`;
  return { lead: t('headlineNotYet'), why };
}

function describeMisfit({ decision, fit }: Predicted): Headline {
  const why = decision.kind === 'unsure' ? `${fit.reason} ${t('misfitVerify')}` : fit.reason;
  return { lead: t('headlineNotUnderstood'), why };
}

function describeRest({ decision, page }: Predicted): Headline {
  const lead = t(isLong(decision) ? 'headlineNothing' : 'headlineGood');
  switch (reasonToLeave(decision)) {
    case 'equal':
      return { lead, why: t('goodEqual') };
    case 'right':
      return { lead, why: t('goodAlready') };
    case 'server': {
      const offer = decision.actions.find(({ kind, worthwhile }) => kind === 'offer-h3' && worthwhile)!;
      const [before, after] = formatDurations(decision.baseline.pltMs, offer.time.pltMs);
      const [first = '', ...more] = offer.origins.map(formatOrigin);
      const hosts = more.length === 0 ? first : t('serversMore', { names: first, count: more.length });
      return { lead: t('headlineNothing'), why: t('restOffer', { hosts, before, after }) };
    }
    case 'no-sure-gain':
      return { lead: t('headlineNothing'), why: page.url.startsWith('http:') ? t('restHttps') : '' };
  }
}

/** Whether the recorded load is understood, or something else than it speaks for the decision. */
function isUnderstood({ decision, fit }: Predicted): boolean {
  return fit.understood || decision.baseline.measured || isVerified(decision);
}
