import type { Verification } from '@hopwise/contract';
import type {
  OriginRecommendation,
  Prediction,
  Protocol,
  Recording,
  Unavailable,
} from '@hopwise/pageload-emulator';

/** Milliseconds: a median with the ends of its spread. */
export interface Spread {
  median: number;
  low: number;
  high: number;
}

/** A spread over repeated loads or rounds. */
export interface RepeatedSpread extends Spread {
  /** How many were timed. */
  n: number;
  /** What `low` and `high` are: the ends seen, or percentiles. */
  spread: 'min-max' | 'p10-p90';
  /** Requests that were proved to use the protocol, of all requests. */
  proved: number;
  requests: number;
}

/** One protocol, three ways to know its page load time. */
export interface ProtocolReport {
  /** From the recording of one natural load, by emulation. */
  predictedMs: Spread | Unavailable;
  /** The same emulation, told the link as set; only in the lab. */
  predictedGivenNetworkMs: Spread | Unavailable | null;
  /** From real transfers by libcurl. */
  verifiedMs: RepeatedSpread | Unavailable | null;
  /** From real page loads with the protocol forced; only in the lab. */
  measuredMs: RepeatedSpread | Unavailable | null;
}

/** The link as it was set in the lab, in the units of the command line. */
export interface NetworkAsSet {
  name: string;
  rttMs: number;
  downMbps: number;
  upMbps: number;
  loss: number;
  udp: 'open' | 'blocked' | number;
}

/** `out/report.json`. */
export interface Report {
  format: 'hopwise-report';
  version: 1;
  createdAt: string;
  mode: 'lab' | 'live';
  browser: string;
  engine: string;
  page: Prediction['page'] & { name: string };
  network: { set: NetworkAsSet | null; estimated: Prediction['network'] };
  /** PLT of the recorded load, under the protocols the browser picked by itself. */
  observed: Prediction['observed'];
  protocols: Record<Protocol, ProtocolReport>;
  best: Protocol;
  margin: number;
  confidence: number;
  decided: boolean;
  reasons: string[];
  assignment: Prediction['assignment'];
  assignedPltMs: number;
  origins: OriginRecommendation[];
  /** What makes a figure doubtful (late packets, loads that were repeated): one line each. */
  warnings: string[];
  elapsedMs: number;
  /** From the recording alone, before any transfer. */
  predictionFromRecording: Prediction;
  /** With what the transfers showed of the network: the source of the recommendation. */
  prediction: Prediction;
  verification: Verification | null;
  recording: Recording;
}

/** What `npm start` gathered on its way. */
export interface Findings {
  mode: 'lab' | 'live';
  pageName: string;
  networkAsSet: NetworkAsSet | null;
  recording: Recording;
  predictionFromRecording: Prediction;
  prediction: Prediction;
  predictionGivenNetwork: Prediction | null;
  verification: Verification | null;
  measured: Partial<Record<Protocol, RepeatedSpread | Unavailable>> | null;
  warnings: string[];
  elapsedMs: number;
}

export function isUnavailable(value: unknown): value is Unavailable {
  return typeof value === 'object' && value !== null && 'unavailable' in value;
}

function predictedSpread(prediction: Prediction, protocol: Protocol): Spread | Unavailable {
  const time = prediction.protocols[protocol];
  return isUnavailable(time) ? time : { median: time.pltMs, low: time.low, high: time.high };
}

function verifiedSpread(
  verification: Verification | null,
  protocol: Protocol,
): RepeatedSpread | Unavailable | null {
  const verified = verification?.protocols[protocol];
  if (!verified) return null;
  if (verified.unavailable !== '') return { unavailable: verified.unavailable };
  if (verified.medianMs === null || verified.lowMs === null || verified.highMs === null) {
    return { unavailable: 'no round ended' };
  }
  return {
    median: verified.medianMs,
    low: verified.lowMs,
    high: verified.highMs,
    n: verified.rounds.length,
    spread: 'min-max',
    proved: verified.provedRequests,
    requests: verified.answeredRequests,
  };
}

/** Puts the findings into the form of `out/report.json`. */
export function buildReport(findings: Findings): Report {
  const { prediction, predictionGivenNetwork, verification, measured } = findings;
  const protocolReport = (protocol: Protocol): ProtocolReport => ({
    predictedMs: predictedSpread(prediction, protocol),
    predictedGivenNetworkMs: predictionGivenNetwork && predictedSpread(predictionGivenNetwork, protocol),
    verifiedMs: verifiedSpread(verification, protocol),
    measuredMs: measured?.[protocol] ?? null,
  });
  return {
    format: 'hopwise-report',
    version: 1,
    createdAt: new Date().toISOString(),
    mode: findings.mode,
    browser: findings.recording.browser,
    engine: verification?.engine ?? '',
    page: { name: findings.pageName, ...prediction.page },
    network: { set: findings.networkAsSet, estimated: prediction.network },
    observed: prediction.observed,
    protocols: { h1: protocolReport('h1'), h2: protocolReport('h2'), h3: protocolReport('h3') },
    best: prediction.best,
    margin: prediction.margin,
    confidence: prediction.confidence,
    decided: prediction.decided,
    reasons: prediction.reasons,
    assignment: prediction.assignment,
    assignedPltMs: prediction.assignedPltMs,
    origins: prediction.origins,
    warnings: findings.warnings,
    elapsedMs: findings.elapsedMs,
    predictionFromRecording: findings.predictionFromRecording,
    prediction,
    verification,
    recording: findings.recording,
  };
}
