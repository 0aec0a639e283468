import {
  type Action,
  type Decision,
  type OriginRecommendation,
  PROTOCOL_NAME,
  type Prediction,
} from '@hopwise/contract';
import { promisingAction, timeByItself } from '@hopwise/pageload-emulator';
import { plural, t } from '../language/translate.ts';
import { formatBytes, formatDuration, formatGain, formatShare } from './format.ts';

/** What to do about one origin, what the page gains by the action that includes it, and why. */
export interface OriginAdvice {
  origin: OriginRecommendation;
  instruction: string;
  /** The page's gain, for all origins of the action together; '' for none. */
  gain: string;
  /** Whether that takes other origins as well. */
  isTogether: boolean;
  reason: string;
}

/** Advice on the origins that matter, those with the most bytes first, and the origins that do not matter. */
interface AdviceByOrigin {
  advised: OriginAdvice[];
  rest: OriginRecommendation[];
}

type Advised = Pick<Prediction, 'decision' | 'origins'> & { observed: { pltMs: number | null } };

export function adviseOrigins({ decision, origins, observed }: Advised): AdviceByOrigin {
  const advised: OriginAdvice[] = [];
  const rest: OriginRecommendation[] = [];
  for (const origin of origins.toSorted((a, b) => b.bytes - a.bytes)) {
    const advice = adviseOrigin(decision, origin, observed.pltMs);
    if (advice === null) rest.push(origin);
    else advised.push(advice);
  }
  return { advised, rest };
}

/**
 * Actions of the browser that include an origin of the recommended action and are worth taking, that one first. None promises more
 * than it: an origin's gain must not exceed the page's.
 */
export function worthwhileActions({ kind, action, actions }: Decision, origin: string): Action[] {
  if (kind !== 'act' || !action.origins.includes(origin)) return [];
  return actions.filter(
    (each) =>
      each.origins.includes(origin) &&
      (each === action ||
        (each.worthwhile && !each.needs.includes('server') && each.gainMs <= action.gainMs)),
  );
}

function adviseOrigin(
  decision: Decision,
  origin: OriginRecommendation,
  seenMs: number | null,
): OriginAdvice | null {
  const { action, baseline, actions } = decision;
  if (action.origins.includes(origin.origin)) {
    // The difference of the headline's times.
    const gain = formatGain(timeByItself(decision, seenMs), action.time.pltMs);
    return adviceBy(action, { instruction: instructionOf(action, origin.origin), gain }, decision, origin);
  }
  const promising = decision.kind === 'unsure' ? promisingAction(actions) : null;
  if (promising && promising.gainMs > 0 && promising.origins.includes(origin.origin)) {
    const gain = t('adviceMaybe', { gain: formatDuration(promising.gainMs) });
    const instruction = t(isVerified(decision) ? 'adviceUnsettled' : 'adviceVerify');
    return adviceBy(promising, { instruction, gain }, decision, origin);
  }
  const offer = decision.kind === 'leave' ? actions.find(isWorthwhileOffer) : undefined;
  if (offer?.origins.includes(origin.origin)) {
    const gain = formatGain(baseline.pltMs, offer.time.pltMs);
    return adviceBy(offer, { instruction: t('adviceOffer'), gain }, decision, origin);
  }
  const own = decision.baseline.protocols[origin.origin];
  if (!origin.decided || origin.protocol !== own) return null;
  return {
    origin,
    instruction: t('adviceLeave', { protocol: PROTOCOL_NAME[own] }),
    gain: '',
    isTogether: false,
    reason: origin.reason,
  };
}

/** Whether a decision rests on a verification of the page on its network: another one is then no way out of doubt. */
export const isVerified = ({ evidence }: Pick<Decision, 'evidence'>): boolean =>
  evidence.some(({ kind }) => kind === 'verification');

const isWorthwhileOffer = ({ kind, worthwhile }: Action) => kind === 'offer-h3' && worthwhile;

function adviceBy(
  action: Action,
  { instruction, gain }: Pick<OriginAdvice, 'instruction' | 'gain'>,
  { baseline }: Decision,
  origin: OriginRecommendation,
): OriginAdvice {
  const own = baseline.protocols[origin.origin];
  const carried = {
    requests: plural('requests', origin.requests),
    bytes: formatBytes(origin.bytes),
    share: formatShare(action.helps),
  };
  const isTogether = action.origins.length > 1 && gain !== '';
  return {
    origin,
    instruction,
    gain: isTogether ? t('adviceTogether', { gain }) : gain,
    isTogether,
    reason: own
      ? t('adviceCarriedOver', { ...carried, protocol: PROTOCOL_NAME[own] })
      : t('adviceCarried', carried),
  };
}

function instructionOf({ kind, assignment }: Action, origin: string): string {
  return kind === 'avoid-h3'
    ? t('adviceAvoid')
    : t('adviceHold', { protocol: PROTOCOL_NAME[assignment[origin]!] });
}
