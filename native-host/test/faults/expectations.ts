/** What the README promises under each fault. */
import type { PinState } from '@hopwise/contract';
import { type Attempt, type Result, UNANSWERED } from './model-browser.ts';
import type { CasePlan, Fault, PlannedRequest } from './plan.ts';

/** Pages do not notice these: every request succeeds. */
const HARMLESS = new Set<Fault>([
  'stall',
  'packet-gap',
  'packets-lost',
  'packets-policed',
  'engine-stopped',
  'disk-full',
  'ca-removed',
  'ca-disk-full',
  'clock-days',
  'clock-years',
  'clock-back',
]);
/** The helper has ended with all its connections. */
const OF_THE_HOST = new Set<Fault>(['host-killed', 'host-stopped', 'port-closed', 'frame-garbage']);
/** They use the proxy's own connections to the origin: its answers say what may be repeated. */
const MENDED_BY_THE_PROXY = new Set<Fault>([
  'reset',
  'cut',
  'half-close-up',
  'half-close-down',
  'garbage-up',
  'garbage-down',
  'packets-gone',
  'packets-damaged',
  'protocol-gone',
  'engine-killed',
  'engine-garbage',
]);
/** By OpenSSL's words. */
const SHOWN_CERTIFICATE: Partial<Record<Fault, RegExp>> = {
  'other-certificate': /self-signed certificate|unable to verify/,
  'expired-certificate': /certificate has expired/,
};
/** 3 s until the origin is asked, 5 s for the question, and as much again for a busy machine. */
const NOTICED_MS = 16_000;
const USUAL_LIMIT_MS = 5_000;
/** Congestion control takes every lost packet for too high a rate. */
const LOSSY_LIMIT_MS = 20_000;
/** Users do not wait forever for a connection that stalls. */
const PATIENCE_MS = 3_000;

/** Another one is in the origin's place for good. */
function isAnotherServer(fault: Fault): boolean {
  return fault === 'protocol-gone' || SHOWN_CERTIFICATE[fault] !== undefined;
}

/** The origin has gone for a protocol that does not hear of it. */
export function isSilent({ fault, pin }: CasePlan): boolean {
  return pin === 'h3' && (fault === 'packets-gone' || isAnotherServer(fault));
}

/** By when a request of the case has ended, milliseconds. */
export function limitMs(plan: CasePlan): number {
  if (plan.fault === 'hang') return PATIENCE_MS;
  if (['packets-lost', 'packets-policed', 'packets-damaged'].includes(plan.fault)) return LOSSY_LIMIT_MS;
  return isSilent(plan) ? NOTICED_MS : USUAL_LIMIT_MS + plan.lastsMs;
}

/** By when a page that is loaded after the fault is there. */
export function pageLimitMs(plan: CasePlan): number {
  return isSilent(plan) || plan.fault === 'hang' ? NOTICED_MS : USUAL_LIMIT_MS;
}

/** A browser without a proxy would wait as well, on connections that hang or for the end of a spoilt TLS record. */
export function pageMayWait({ fault, pin }: CasePlan): boolean {
  return fault === 'hang' || (fault.startsWith('garbage') && pin === 'avoid-h3');
}

/** What the browser has against the origin's certificate and shows on the page after the fault; null: the page loads. */
export function shownCertificate({ fault }: CasePlan): RegExp | null {
  return SHOWN_CERTIFICATE[fault] ?? null;
}

/** What is wrong with the end of a request; '' for nothing. */
export function faultOfResult(
  plan: CasePlan,
  request: PlannedRequest,
  result: Result,
  isRight: boolean,
): string {
  const { answer, failure, attempts } = result;
  const words = attempts.map(wordsOf).join(', then ');
  if (answer)
    return isRight ? '' : `a wrong answer of ${answer.body.length} bytes, status ${answer.status} (${words})`;
  const why = failure!.failure;
  // A process that is killed between a CONNECT and its answer cannot answer any more.
  if (why === 'proxy' && plan.fault === 'host-killed' && failure!.message === UNANSWERED) return '';
  if (why === 'proxy') return `an error of the proxy (${words})`;
  if (why === 'certificate')
    // The error is of a connection that was there before the clock was set back before the local CA.
    return shownCertificate(plan) || plan.fault === 'clock-back' ? '' : `an error of certificates (${words})`;
  if (mustSucceed(plan, request, attempts)) return `it failed (${words})`;
  if (why === 'given-up' && plan.fault !== 'hang' && !isSilent(plan) && !pageMayWait(plan))
    return `it did not end (${words})`;
  return '';
}

function mustSucceed(
  plan: CasePlan,
  { method, hasBody }: PlannedRequest,
  attempts: readonly Attempt[],
): boolean {
  if (HARMLESS.has(plan.fault)) return true;
  // The browser's own ways with lost connections are not the proxy's.
  if (attempts.some(({ terminated }) => !terminated)) return false;
  if (attempts.some(({ headSeen }) => headSeen) || method === 'POST' || hasBody) return false;
  if (plan.moment.at === 'handshake' && plan.fault !== 'protocol-gone') return false;
  return MENDED_BY_THE_PROXY.has(plan.fault);
}

/**
 * What is wrong with how often a request has reached the server; '' for nothing.
 *
 * @param arrivals of each attempt.
 */
export function faultOfArrivals(
  plan: CasePlan,
  request: PlannedRequest,
  result: Result,
  arrivals: number[],
): string {
  const all = arrivals.reduce((sum, count) => sum + count, 0);
  const { answer, attempts } = result;
  const words = `${arrivals} (${attempts.map(wordsOf).join(', then ')})`;
  if (answer && all === 0) return 'it has succeeded and never reached the server';
  if (request.method !== 'POST') return '';
  if (arrivals.some((count) => count > 1)) return `doubled: ${words}`;
  if (attempts.some((attempt, at) => isRefused(attempt) && (arrivals[at] ?? 0) > 0))
    return `refused nevertheless: ${words}`;
  const isOwn = attempts.some(({ terminated }) => !terminated) || mayBeDoubled(plan);
  return all > 1 && !isOwn ? `doubled by the browser without a refusal: ${words}` : '';
}

/** Browsers send any request again whose used connection is lost, when there is no proxy. */
export function mayBeDoubled({ fault, pin }: CasePlan): boolean {
  return pin === 'avoid-h3' || OF_THE_HOST.has(fault);
}

/** What is wrong with the pin after the fault; '' for nothing. */
export function faultOfPin(plan: CasePlan, pin: PinState | null): string {
  const { pin: kind, fault } = plan;
  if (!pin) return 'the pin is forgotten';
  const { state, reason } = pin;
  if (kind === 'avoid-h3') return state === 'active' ? '' : `a tunnel was lifted: ${reason}`;
  if (state !== 'lifted') return mustLift(plan) ? `the pin is ${state}` : '';
  if (reason === '') return 'the pin was lifted without a reason';
  if (mustHold(kind, fault)) return `the pin was lifted: ${reason}`;
  if (SHOWN_CERTIFICATE[fault] && kind !== 'h3' && !/certificate/i.test(reason))
    return `the reason is ${reason}`;
  if (/^engine/.test(fault) && !/engine/.test(reason)) return `the reason is ${reason}`;
  return '';
}

/** Whether the pin is of no use after the fault. */
export function mustLift({ pin, fault }: CasePlan): boolean {
  if (pin === 'avoid-h3') return false;
  if (fault === 'packets-gone') return pin === 'h3';
  return isAnotherServer(fault);
}

function mustHold(kind: string, fault: Fault): boolean {
  if (/^packet/.test(fault) && kind !== 'h3') return true;
  return ['stall', 'packet-gap', 'disk-full', 'ca-disk-full', 'clock-days', 'engine-stopped'].includes(fault);
}

/** The browser got an answer that the origin has not processed it. */
function isRefused({ again }: Attempt): boolean {
  return again === 'refused' || again === 'misdirected';
}

function wordsOf(attempt: Attempt): string {
  const { terminated, headSeen, error } = attempt;
  const way = terminated ? 'terminated' : 'not terminated';
  return [way, isRefused(attempt) && 'refused', headSeen && 'answered', error].filter(Boolean).join(' ');
}
