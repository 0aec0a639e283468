import { type Decision, PROTOCOLS, type Protocol } from '@hopwise/contract';
import { isDecided } from '../choose/confidence.ts';

/** Load times within this share of the fastest are called equal. */
const EQUAL = 0.05;

/** The protocols of a decision from the fastest to the slowest. */
export function ranked(protocols: Decision['protocols']): { protocol: Protocol; pltMs: number }[] {
  return PROTOCOLS.flatMap((protocol) => {
    const time = protocols[protocol];
    return time === undefined ? [] : { protocol, pltMs: time.pltMs };
  }).sort((a, b) => a.pltMs - b.pltMs);
}

/** The fastest protocol and those about as fast. */
export function fastestProtocols(protocols: Decision['protocols']): Protocol[] {
  const times = ranked(protocols);
  const leastMs = times[0]?.pltMs ?? 0;
  return times.filter(({ pltMs }) => isAboutEqual(pltMs, leastMs)).map(({ protocol }) => protocol);
}

/** Whether a load time is about the fastest one. */
export const isAboutEqual = (pltMs: number, fastestMs: number): boolean => pltMs <= (1 + EQUAL) * fastestMs;

/** How the best protocol of a decision stands against the next one. */
export interface Standing {
  best: Protocol;
  /** The fastest of the others; null where the best is the only one. */
  rival: Protocol | null;
  bestMs: number;
  rivalMs: number;
  /** Gain over the rival as a fraction of its time, 0 when the best is not the fastest; 1 without a rival. */
  margin: number;
  confidence: number;
  /** Whether margin and confidence are enough to act on. */
  decided: boolean;
}

export function standingOf({
  best,
  confidence,
  protocols,
}: Pick<Decision, 'best' | 'confidence' | 'protocols'>): Standing {
  const bestMs = protocols[best]!.pltMs;
  const rival = ranked(protocols).find(({ protocol }) => protocol !== best);
  if (rival === undefined) {
    return { best, rival: null, bestMs, rivalMs: bestMs, margin: 1, confidence, decided: true };
  }
  const rivalMs = rival.pltMs;
  return {
    best,
    rival: rival.protocol,
    bestMs,
    rivalMs,
    margin: Math.max(0, (rivalMs - bestMs) / rivalMs),
    confidence,
    decided: isDecided(bestMs, rivalMs, confidence),
  };
}
