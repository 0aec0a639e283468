import type { Assignment, Protocol } from './protocol.ts';

/**
 * Distribution of the time of one load to come: median, 10th and 90th percentile, between which four of five loads lie. It covers random
 * losses, the network's uncertainty, the emulator's error, the scatter of the browser and of servers. Chances leave that scatter out: they
 * are of what loads take as a rule, since a choice is for many.
 * `Fit.explainedRange` has that of the recorded load itself, which is narrower.
 */
export interface LoadTime {
  /** navigationStart to loadEventEnd (PLT), milliseconds, median. */
  pltMs: number;
  /** 10th percentile, milliseconds. */
  low: number;
  /** 90th percentile, milliseconds. */
  high: number;
}

/**
 * What a person can do about a page's protocols: nothing; keep origins off HTTP/3; force origins to the protocols of an
 * assignment; offer HTTP/3 at servers of their own, or stop offering it.
 */
export type ActionKind = 'leave' | 'avoid-h3' | 'force-protocol' | 'offer-h3' | 'withdraw-h3';

/** What an action takes: the native helper, its local certificate authority, control of the servers. */
export type ActionNeed = 'helper' | 'ca' | 'server';

/** One action and its consequences against the baseline. */
export interface Action {
  kind: ActionKind;
  /** Origins that it changes, those with the most bytes first; empty for `leave`. */
  origins: string[];
  /** The protocol that these origins are forced to; null when they differ (`assignment` has them) and for `leave`. */
  protocol: Protocol | null;
  /** Protocol of every origin under the action. */
  assignment: Assignment;
  /** Load time under the action. */
  time: LoadTime;
  /** What the emulation alone says, without experience and evidence. */
  emulated: LoadTime;
  /** Expected gain over the baseline on the visit, the first or later ones, on which it gains less, milliseconds; negative for a loss. */
  gainMs: number;
  /** The gain as a fraction of the baseline's load time on that visit. */
  gain: number;
  /** Probability that a load takes less time than under the baseline, on the first visit and on later ones. */
  helps: number;
  /** Probability that a load takes over 5% more time than under the baseline, on the first visit or on later ones. */
  harms: number;
  /** Whether at least half of the gain has a probability of 95%, so that the action's effect is called sure. */
  sure: boolean;
  needs: ActionNeed[];
  /** Whether gain and chances are enough to act on. */
  worthwhile: boolean;
  /** Whether `time` rests on measured loads under this action. */
  measured: boolean;
}

/** What the browser does by itself. */
export interface Baseline extends LoadTime {
  /**
   * `first`: the browser learns of HTTP/3 during the load. `later`: it knows from an earlier visit which origins offer it.
   */
  visit: 'first' | 'later';
  /** The protocol that it uses for each origin, where possible from the first request on. */
  protocols: Assignment;
  /** Load time of visits after the first, which begin on HTTP/3 where it is offered; equal to `pltMs` for `later`. */
  laterPltMs: number;
  /** Its load time by the emulation alone, without experience and evidence. */
  emulated: LoadTime;
  /** Whether the figures rest on measured loads. */
  measured: boolean;
}

/** One thing that the decision rests on, as a sentence, with its weight. */
export interface Evidence {
  kind: 'emulation' | 'verification' | 'loads' | 'earlier-decision';
  text: string;
}

/** What to do about a page's protocols. */
export interface Decision {
  /**
   * `act`: an action is worthwhile. `leave`: the browser's own behaviour is right. `unsure`: an action may gain much, but not
   * surely, or the recorded load is not understood (`Prediction.fit`).
   */
  kind: 'act' | 'leave' | 'unsure';
  /** One line for a person: what to do and what it gains. */
  verdict: string;
  /**
   * The one protocol of the smallest expected regret, if every origin offered it: the fastest as a rule, but not where it may take
   * far longer, such as HTTP/3 where UDP might be policed.
   */
  best: Protocol;
  /** Probability that it is faster than each other protocol, the least of these. */
  confidence: number;
  /** Load time with every origin on each protocol, all evidence included; absent for protocols that cannot carry the page. */
  protocols: Partial<Record<Protocol, LoadTime>>;
  baseline: Baseline;
  /** The recommended action; `leave` unless `kind` is `act`. */
  action: Action;
  /** All actions that were considered, the recommended one first, then by expected gain. */
  actions: Action[];
  /** Origins whose protocol does not move the load time. */
  indifferentOrigins: number;
  evidence: Evidence[];
  /** Why the answer differs from the earlier one; null when it does not, or there was none. */
  changed: string | null;
}

/** Loads of the same page on the same network that were measured under one behaviour of the browser. */
export interface MeasuredLoads {
  /** `browser`: without pins. Otherwise the protocols that pins held origins to; origins that are absent were not pinned. */
  under: 'browser' | Assignment;
  /** Load times, milliseconds, newest last. */
  pltMs: number[];
  /** Age of the newest, milliseconds. */
  ageMs: number;
}
