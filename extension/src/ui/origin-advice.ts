import {
  type Action,
  type Decision,
  type OriginRecommendation,
  PROTOCOL_NAME,
  type Prediction,
} from '@hopwise/contract';
import { duration, promisingAction } from '@hopwise/pageload-emulator';
import { formatBytes, formatCount, formatShare } from './format.ts';

/** What to do about one origin, what the page gains by the action that includes it, and why. */
export interface OriginAdvice {
  origin: OriginRecommendation;
  instruction: string;
  /** The page's gain, for all origins of the action together; '' for none. */
  gain: string;
  reason: string;
}

/** Advice on the origins that matter, those with the most bytes first, and the origins that do not matter. */
export interface AdviceByOrigin {
  advised: OriginAdvice[];
  rest: OriginRecommendation[];
}

export function adviseOrigins({
  decision,
  origins,
}: Pick<Prediction, 'decision' | 'origins'>): AdviceByOrigin {
  const advised: OriginAdvice[] = [];
  const rest: OriginRecommendation[] = [];
  for (const origin of origins.toSorted((a, b) => b.bytes - a.bytes)) {
    const advice = adviseOrigin(decision, origin);
    if (advice === null) rest.push(origin);
    else advised.push(advice);
  }
  return { advised, rest };
}

/**
 * Actions of the browser that include an origin and are worth taking, the recommended one first. None promises more than that one:
 * an origin's gain must not exceed the page's.
 */
export function worthwhileActions({ kind, action, actions }: Decision, origin: string): Action[] {
  if (kind !== 'act') return [];
  return actions.filter(
    (each) =>
      each.origins.includes(origin) &&
      (each === action ||
        (each.worthwhile && !each.needs.includes('server') && each.gainMs <= action.gainMs)),
  );
}

function adviseOrigin(decision: Decision, origin: OriginRecommendation): OriginAdvice | null {
  const [action] = worthwhileActions(decision, origin.origin);
  if (action) return adviceBy(action, instructionOf(action, origin.origin), decision, origin);
  const promising = decision.kind === 'unsure' ? promisingAction(decision.actions) : null;
  if (promising?.origins.includes(origin.origin))
    return adviceBy(promising, 'verify first', decision, origin);
  const offer = decision.kind === 'leave' ? decision.actions.find(isWorthwhileOffer) : undefined;
  if (offer?.origins.includes(origin.origin))
    return adviceBy(offer, 'offer HTTP/3 at the server', decision, origin);
  const own = decision.baseline.protocols[origin.origin];
  if (!origin.decided || origin.protocol !== own) return null;
  return { origin, instruction: `leave on ${PROTOCOL_NAME[own]}`, gain: '', reason: origin.reason };
}

const isWorthwhileOffer = ({ kind, worthwhile }: Action) => kind === 'offer-h3' && worthwhile;

function adviceBy(
  action: Action,
  instruction: string,
  { baseline }: Decision,
  origin: OriginRecommendation,
): OriginAdvice {
  const together = action.origins.length > 1 ? ' together' : '';
  const carried = `${formatCount(origin.requests, 'request')}, ${formatBytes(origin.bytes)}`;
  const own = baseline.protocols[origin.origin];
  const over = own ? `, by itself over ${PROTOCOL_NAME[own]}` : '';
  return {
    origin,
    instruction,
    gain: `${action.kind === 'offer-h3' || action.worthwhile ? '' : 'maybe '}${duration(Math.max(0, action.gainMs))}${together}`,
    reason: `${carried}${over}. The change makes ${formatShare(action.helps)} of loads faster.`,
  };
}

function instructionOf({ kind, assignment }: Action, origin: string): string {
  return kind === 'avoid-h3' ? 'avoid HTTP/3' : `hold to ${PROTOCOL_NAME[assignment[origin]!]}`;
}
