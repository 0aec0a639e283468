import type { Decision, LoadTime } from './decision.ts';
import type { FigureSource, UdpNotation, UdpShares } from './network-path.ts';
import type { Assignment, Protocol } from './protocol.ts';

/** Paint times, milliseconds after navigationStart. */
export interface PaintTimes {
  /** First Contentful Paint; null when unknown. */
  firstContentfulPaintMs: number | null;
  /** Largest Contentful Paint; null when unknown. */
  largestContentfulPaintMs: number | null;
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

/** One protocol's load time with changed servers. */
export interface WhatIfTime extends LoadTime {
  /** Ratio to the load time with the present servers, less 1: −0.1 is 10% faster. */
  change: number;
}

/** Predicted load times with changed servers. */
export interface WhatIf {
  /** The change in words. */
  change: string;
  protocols: Record<Protocol, WhatIfTime | Unavailable>;
}

/** A protocol that cannot carry the page. */
export interface Unavailable {
  /** Why, as a clause for the user. */
  unavailable: string;
}

/** Recommendation for one origin. */
export interface OriginRecommendation {
  /** `https://host[:port]`. */
  origin: string;
  /** Requests that the load event could wait for. */
  requests: number;
  /** Bytes of their responses on the wire. */
  bytes: number;
  /** The assigned protocol. */
  protocol: Protocol;
  /** Gain of the page's load time over the next best protocol for this origin, as a fraction; 0 when there is no other. */
  margin: number;
  /** Probability that no other protocol for this origin loads the page faster, 0 to 1. */
  confidence: number;
  /** Page load time, milliseconds, with this origin moved to each protocol and all others as assigned. */
  pltMs: Partial<Record<Protocol, number>>;
  /** One sentence with the emulation's figures. */
  reason: string;
  /** Whether the gain is large and likely enough to act on; otherwise there is no clear winner. */
  decided: boolean;
}

/** How well the emulation explains the recorded load. */
export interface Fit {
  /** The recorded load time, milliseconds; null without a load event. */
  recordedMs: number | null;
  /** What emulating the recorded load gives, milliseconds, median; null where the recorded one was on another network than the one asked about. */
  explainedMs: number | null;
  /**
   * The range of that in which four of five recorded loads lie; null without it. Network, servers and losses are those of that moment:
   * a later load scatters more, as `decision` says.
   */
  explainedRange: Pick<LoadTime, 'low' | 'high'> | null;
  /** Whether the recorded load is reproduced within the stated error and the network's figures are plausible. */
  understood: boolean;
  /** Why it is not understood, the first reason as a sentence; '' when it is. */
  reason: string;
  /** What is explained of the recorded load, in one sentence; '' where there is nothing to compare. */
  summary: string;
  /** What is not understood, in sentences; empty when all is. */
  notes: string[];
}

/** The emulation's own answer, without experience and evidence: what the emulator is judged by. Nothing else is shown of it. */
export interface EmulatedAnswer {
  protocols: Record<Protocol, ProtocolPrediction | Unavailable>;
  /** The fastest in the median, unless another protocol's mean regret over the possible networks is clearly smaller. */
  best: Protocol;
  /** Gain of `best` over the runner-up, as a fraction of the runner-up's time; 0 when `best` is the safest but not the fastest. */
  margin: number;
  /** Probability that `best` is the fastest uniform choice, 0 to 1. */
  confidence: number;
  decided: boolean;
}

/** One request in the waterfall of an emulated load; milliseconds after navigationStart. */
export interface WaterfallEntry {
  /** `RecordedRequest.id`. */
  requestId: number;
  /** When the browser decided to make it. */
  startMs: number;
  /** When it left on an open connection. */
  sentMs: number;
  /** When its response's first byte arrived. */
  firstByteMs: number;
  /** When its response's last byte arrived. */
  endMs: number;
}

/** Version of the form of `Prediction`. */
export const PREDICTION_SCHEMA = 3;

/**
 * Answer of `hopwise predict --json`; field names and units are the public contract. All load times, gains and chances are the decision's,
 * but for those in `emulated`.
 */
export interface Prediction {
  schema: typeof PREDICTION_SCHEMA;
  /** The page: its requests before the load event, and the bytes of their responses on the wire. */
  page: { url: string; requests: number; origins: number; bytes: number };
  /** The network that the prediction is for. */
  network: {
    /** Round trip without queueing, milliseconds. */
    rttMs: number;
    /** Mbit/s. */
    downMbps: number;
    /** Mbit/s. */
    upMbps: number;
    /** Random loss per packet and direction, a fraction. */
    loss: number;
    /** Mean length of a burst of losses, packets; 1 for independent losses. */
    lossBurst: number;
    udp: UdpNotation;
    /** Drop-tail queue of the bottleneck, downstream, bytes. */
    queueBytes: number;
    /** 10th and 90th percentile of each figure, given the recording and other knowledge. */
    ranges: Record<
      'rttMs' | 'downMbps' | 'upMbps' | 'loss' | 'lossBurst' | 'queueBytes',
      { low: number; high: number }
    >;
    /** Probabilities of UDP's treatments; they sum to 1. */
    udpShares: UdpShares;
    /** Source of each figure. */
    source: Record<
      'rttMs' | 'downMbps' | 'upMbps' | 'loss' | 'lossBurst' | 'udp' | 'queueBytes',
      FigureSource
    >;
  };
  /** What to do about it: what the product acts on. */
  decision: Decision;
  /** The recorded load: its time in milliseconds, and its requests by protocol. */
  observed: { pltMs: number | null; protocols: Partial<Record<Protocol, number>> };
  /** How well the recorded load is explained. */
  fit: Fit;
  /** Each protocol applied to every origin, as if all offered it. Times are those of `decision.protocols`, paints are emulated. */
  protocols: Record<Protocol, ProtocolPrediction | Unavailable>;
  /** Equals `decision.best`. */
  best: Protocol;
  /** Gain of `best` over the runner-up, as a fraction of the runner-up's time; 0 when `best` is the safest but not the fastest. */
  margin: number;
  /** Equals `decision.confidence`. */
  confidence: number;
  /** Whether margin and confidence are enough to act on. */
  decided: boolean;
  /** The emulation alone. */
  emulated: EmulatedAnswer;
  /** Why `best` wins, or why nothing does: one or more sentences. */
  reasons: string[];
  /** The joint assignment that loads fastest as a rule: it may have HTTP/3 where another protocol is `best` for what might happen to UDP. */
  assignment: Assignment;
  /** Load time under it, milliseconds, median. */
  assignedPltMs: number;
  assigned: AssignedPrediction;
  origins: OriginRecommendation[];
  /** What was left out because emulating this page takes long, in sentences; empty for usual pages. */
  notes: string[];
  /** Load times with changed servers; absent unless requested. */
  whatIf?: WhatIf;
  /** Predicted waterfall of each protocol that can carry the page, in the scenario of median load time; empty unless requested. */
  waterfall: Partial<Record<Protocol, WaterfallEntry[]>>;
  /** Wall-clock time of the prediction, milliseconds. */
  elapsedMs: number;
}
