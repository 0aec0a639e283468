import type { FigureSource } from './path/network-path.ts';
import type { Assignment, Protocol } from './protocol.ts';

/** A load time as a distribution: median with the 10th and 90th percentile. */
export interface LoadTime {
  pltMs: number;
  low: number;
  high: number;
}

/** A protocol that cannot carry the page, and why, in words for a person. */
export interface Unavailable {
  unavailable: string;
}

/** What hopwise says of one origin. */
export interface OriginRecommendation {
  origin: string;
  requests: number;
  bytes: number;
  protocol: Protocol;
  /** Probability that no other protocol for this origin loads the page faster, 0 to 1. */
  confidence: number;
  /** Page load time with this origin moved to each protocol and all others as assigned. */
  pltMs: Partial<Record<Protocol, number>>;
  /** One sentence, taken from what the emulation shows. */
  reason: string;
  /** Whether the protocols differ enough to act: false is shown as "no clear winner". */
  decided: boolean;
}

/** One request in the waterfall of a predicted load; milliseconds after navigationStart. */
export interface WaterfallEntry {
  requestId: number;
  startMs: number;
  /** When its connection was ready and the request left. */
  sentMs: number;
  firstByteMs: number;
  endMs: number;
}

/** Answer of `hopwise predict --json`; field names and units are the public contract. */
export interface Prediction {
  page: { url: string; requests: number; origins: number; bytes: number };
  network: {
    rttMs: number;
    downMbps: number;
    upMbps: number;
    loss: number;
    /** `open`, `blocked`, or the rate in Mbit/s to which UDP is held. */
    udp: 'open' | 'blocked' | number;
    queueBytes: number;
    source: Record<'rttMs' | 'downMbps' | 'upMbps' | 'loss' | 'udp' | 'queueBytes', FigureSource>;
  };
  observed: { pltMs: number | null; protocols: Partial<Record<Protocol, number>> };
  protocols: Record<Protocol, LoadTime | Unavailable>;
  /** Best uniform choice. */
  best: Protocol;
  /** Gain of `best` over the runner-up, as a fraction of the runner-up's time. */
  margin: number;
  /** Probability that `best` is the fastest uniform choice, 0 to 1. */
  confidence: number;
  /** Whether margin and confidence are enough to act on. */
  decided: boolean;
  /** Why `best` wins, or why nothing does: one or more sentences. */
  reasons: string[];
  assignment: Assignment;
  assignedPltMs: number;
  origins: OriginRecommendation[];
  /** Predicted waterfall of each protocol that can carry the page; the median load. */
  waterfall: Partial<Record<Protocol, WaterfallEntry[]>>;
  elapsedMs: number;
}
