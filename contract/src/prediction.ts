import type { FigureSource, UdpNotation, UdpShares } from './network-path.ts';
import type { Assignment, Protocol } from './protocol.ts';
import type { WaterfallEntry } from './waterfall-entry.ts';

/** Milliseconds after navigationStart; null where nothing is painted. */
export interface PaintTimes {
  /** First Contentful Paint; null when it is not known what is painted. */
  firstContentfulPaintMs: number | null;
  /** Largest Contentful Paint; null when it is not known what is painted. */
  largestContentfulPaintMs: number | null;
}

/**
 * A load time as a distribution: median with the 10th and 90th percentile, between which four of five single loads lie. Losses'
 * chances, the network's uncertainty, the emulator's error and a browser's own scatter are in it.
 */
export interface LoadTime {
  /** navigationStart to loadEventEnd (PLT), milliseconds, median. */
  pltMs: number;
  /** 10th percentile, milliseconds. */
  low: number;
  /** 90th percentile, milliseconds. */
  high: number;
}

/** Load and paint times, milliseconds after navigationStart; paints are medians. */
export interface ProtocolPrediction extends LoadTime, PaintTimes {}

/** Load time with each origin on the protocol of the joint assignment. */
export interface AssignedPrediction extends LoadTime {
  /** Gain over the best single protocol for every origin that offers it, as a fraction of its time. */
  margin: number;
  /** Probability that it loads the page faster than that. */
  confidence: number;
  /** Whether margin and confidence are enough to act on. */
  decided: boolean;
  /** One sentence. */
  reason: string;
}

/** One protocol's load time with a server changed, and what it changes. */
export interface WhatIfTime extends LoadTime {
  /** To the present servers, in the same scenarios: median ratio less 1; −0.1 is a tenth sooner. */
  change: number;
}

/** The page with its servers changed. */
export interface WhatIf {
  /** The change in words. */
  change: string;
  protocols: Record<Protocol, WhatIfTime | Unavailable>;
}

/** A protocol that cannot carry the page, and why, in words for a person. */
export interface Unavailable {
  /** One clause. */
  unavailable: string;
}

/** What hopwise says of one origin. */
export interface OriginRecommendation {
  /** `https://host[:port]`. */
  origin: string;
  /** Requests that the load event could wait for. */
  requests: number;
  /** Their responses on the wire. */
  bytes: number;
  /** As assigned. */
  protocol: Protocol;
  /** What the page's load time gains over the next best protocol for this origin, as a fraction; 0 where there is none. */
  margin: number;
  /** Probability that no other protocol for this origin loads the page faster, 0 to 1. */
  confidence: number;
  /** Page load time, milliseconds, with this origin moved to each protocol and all others as assigned. */
  pltMs: Partial<Record<Protocol, number>>;
  /** One sentence, taken from what the emulation shows. */
  reason: string;
  /** Whether the protocols differ enough to act: false is shown as "no clear winner". */
  decided: boolean;
}

/** Answer of `hopwise predict --json`; field names and units are the public contract. */
export interface Prediction {
  /** What was loaded before the load event; bytes are the responses' on the wire. */
  page: { url: string; requests: number; origins: number; bytes: number };
  /** The network that the prediction is for, and where each figure comes from. */
  network: {
    /** Round trip without queueing, milliseconds. */
    rttMs: number;
    /** Mbit/s. */
    downMbps: number;
    /** Mbit/s. */
    upMbps: number;
    /** Random loss per packet and direction, a fraction. */
    loss: number;
    udp: UdpNotation;
    /** Drop-tail queue of the bottleneck, downstream, bytes. */
    queueBytes: number;
    /** Between the 10th and the 90th percentile of what the recording, and whatever else is known, leaves possible. */
    ranges: Record<'rttMs' | 'downMbps' | 'upMbps' | 'loss' | 'queueBytes', { low: number; high: number }>;
    /** Probabilities of what happens to UDP; they sum to 1. */
    udpShares: UdpShares;
    source: Record<'rttMs' | 'downMbps' | 'upMbps' | 'loss' | 'udp' | 'queueBytes', FigureSource>;
  };
  /** The recorded load: its time in milliseconds, and its requests by protocol. */
  observed: { pltMs: number | null; protocols: Partial<Record<Protocol, number>> };
  /** Each protocol applied to every origin, as if all offered it. */
  protocols: Record<Protocol, ProtocolPrediction | Unavailable>;
  /** Best uniform choice: the fastest in the median, unless another one costs clearly less on the mean of the networks that this may be. */
  best: Protocol;
  /** Gain of `best` over the runner-up, as a fraction of the runner-up's time; 0 where the safest choice is not the fastest one. */
  margin: number;
  /** Probability that `best` is the fastest uniform choice, 0 to 1. */
  confidence: number;
  /** Whether margin and confidence are enough to act on. */
  decided: boolean;
  /** Why `best` wins, or why nothing does: one or more sentences. */
  reasons: string[];
  /** The best joint assignment. */
  assignment: Assignment;
  /** Load time under it, milliseconds, median. */
  assignedPltMs: number;
  assigned: AssignedPrediction;
  origins: OriginRecommendation[];
  /** What was left out because emulating this page takes long: sentences; none of usual pages. */
  notes: string[];
  /** The page with changed servers; absent when nobody asked. */
  whatIf?: WhatIf;
  /** Predicted waterfall of each protocol that can carry the page, of the median load; empty when nobody asked. */
  waterfall: Partial<Record<Protocol, WaterfallEntry[]>>;
  /** What the prediction took, milliseconds of the clock. */
  elapsedMs: number;
}
