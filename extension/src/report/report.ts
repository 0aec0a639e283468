import type { Language, UdpNotation, Verification, VerifiedProtocol } from '@hopwise/contract';
import {
  type Assignment,
  type Decision,
  type LoadTime,
  type OriginRecommendation,
  type Prediction,
  type Protocol,
  plannedAction,
  plannedBaseline,
  type Recording,
  type Unavailable,
  verifiedUnder,
  withMeasuredMedians,
} from '@hopwise/pageload-emulator';
import type { PinGain } from '../evidence/pin-outcomes.ts';
import { type Messages, t } from '../language/translate.ts';

/** Milliseconds: a median with the ends of its spread. */
export interface TimeSpread {
  median: number;
  low: number;
  high: number;
}

/** A spread over repeated loads or rounds. */
export interface RepeatedSpread extends TimeSpread {
  /** Each load's time, in the order in which they were made; absent for rounds of transfers. */
  loadsMs?: number[];
  /** How many were timed. */
  n: number;
  /** What `low` and `high` are: the ends seen, or percentiles. */
  spread: 'min-max' | 'p10-p90';
  /** Requests that were proved to use the protocol, of all requests. */
  proved: number;
  requests: number;
}

/** A protocol's page load time as predicted, verified and measured. */
interface ProtocolReport {
  /** From the recording of one natural load, by emulation. */
  predictedMs: TimeSpread | Unavailable;
  /** The same emulation, given the link as it was set; only in the lab. */
  predictedGivenNetworkMs: TimeSpread | Unavailable | null;
  /** From real transfers by libcurl. */
  verifiedMs: RepeatedSpread | Unavailable | null;
  /** From real page loads with the protocol forced; only in the lab. */
  measuredMs: RepeatedSpread | Unavailable | null;
}

/** The page as the browser loads it when left alone. */
export interface BaselineReport {
  /** Requests by the protocol that the browser chose: of all measured loads, of the recorded load where none were measured. */
  protocols: Partial<Record<Protocol, number>>;
  /** Predicts the visit that was recorded, by emulation. */
  predictedMs: TimeSpread;
  /** From real transfers by libcurl that begin on the protocols that the browser would. */
  verifiedMs: RepeatedSpread | Unavailable | null;
  /** From real page loads, each a first visit; only in the lab. */
  measuredMs: RepeatedSpread | Unavailable | null;
}

/** The page with each origin's protocol under the action that hopwise recommended before it was measured. */
interface AssignmentReport {
  /** By origin. */
  protocols: Assignment;
  predictedMs: TimeSpread;
  /** From real transfers by libcurl in which each origin had its protocol; null without an action. */
  verifiedMs: RepeatedSpread | Unavailable | null;
  /** From real page loads in which each origin had its protocol, those by the browser itself without an action; only in the lab. */
  measuredMs: RepeatedSpread | Unavailable | null;
}

/** The link as it was set in the lab, in the units of the command line. */
export interface NetworkAsSet {
  name: string;
  rttMs: number;
  downMbps: number;
  upMbps: number;
  loss: number;
  udp: UdpNotation;
}

/** `out/report.json`, and the data inside an HTML report. */
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
  baseline: BaselineReport;
  assignment: AssignmentReport;
  /** What to do, with the measured loads among its evidence. */
  decision: Decision;
  reasons: string[];
  origins: OriginRecommendation[];
  /** What makes a figure doubtful (late packets, loads that were repeated): one line each. */
  warnings: string[];
  /** How long the run took that made the report; null where it shows a stored load. */
  elapsedMs: number | null;
  /** From the recording alone, before any transfer. */
  predictionFromRecording: Prediction;
  /** With what the transfers showed of the network: the source of the recommendation. */
  prediction: Prediction;
  verification: Verification | null;
  /** What the pins of the stored load gained; null without pins, absent in older reports. */
  pinGain?: PinGain | null;
  recording: Recording;
}

/** What an HTML report has to say in its language. */
export interface ReportWords {
  language: Language;
  messages: Messages;
}

/** What a report is made from: what `npm start` gathered on its way, or a load in the panel. */
export interface Findings {
  mode: 'lab' | 'live';
  pageName: string;
  networkAsSet: NetworkAsSet | null;
  recording: Recording;
  predictionFromRecording: Prediction;
  prediction: Prediction;
  predictionGivenNetwork: Prediction | null;
  verification: Verification | null;
  /** What the pins of a stored load gained; none if not given. */
  pinGain?: PinGain | null;
  measured: Partial<Record<Protocol | 'natural' | 'assigned', RepeatedSpread | Unavailable>> | null;
  /** What to do, after measuring. */
  decision: Decision;
  /** Requests of the measured natural loads; null where nothing was measured. */
  naturalProtocols: BaselineReport['protocols'] | null;
  warnings: string[];
  elapsedMs: number | null;
}

export function isUnavailable(value: unknown): value is Unavailable {
  return typeof value === 'object' && value !== null && 'unavailable' in value;
}

const spreadOf = ({ pltMs, low, high }: LoadTime): TimeSpread => ({ median: pltMs, low, high });

function predictedSpread(prediction: Prediction, protocol: Protocol): TimeSpread | Unavailable {
  const time = prediction.protocols[protocol];
  return isUnavailable(time) ? time : spreadOf(time);
}

function verifiedSpread(verified: VerifiedProtocol | null | undefined): RepeatedSpread | Unavailable | null {
  if (!verified) return null;
  if (verified.unavailable !== '') return { unavailable: verified.unavailable };
  if (verified.medianMs === null || verified.lowMs === null || verified.highMs === null) {
    return { unavailable: t('timeNoRound') };
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

/**
 * The decision with the medians of the measured loads as its figures where they are of its action, so that its sentences and the figures of
 * the loads are the same. Its comparison of predicted times is left out where protocols were measured: these figures replace it.
 */
function decisionAfter({ decision: decided, prediction, measured }: Findings): Decision {
  const { natural, assigned, ...forced } = measured ?? {};
  const isCompared = Object.values(forced).some((time) => !isUnavailable(time));
  const evidence = decided.evidence.filter(({ kind }) => !isCompared || kind !== 'emulation');
  const decision = { ...decided, evidence };
  if (decision.kind !== 'act' || !natural || !assigned) return decision;
  if (isUnavailable(natural) || isUnavailable(assigned)) return decision;
  const loaded = prediction.decision.action.assignment;
  const isLoaded = Object.entries(decision.action.assignment).every(
    ([origin, protocol]) => loaded[origin] === protocol,
  );
  return isLoaded ? withMeasuredMedians(decision, natural.median, assigned.median) : decision;
}

/** Puts the findings into the form of `out/report.json`. */
export function buildReport(findings: Findings): Report {
  const { prediction, predictionGivenNetwork, verification, measured } = findings;
  const { action, baseline } = prediction.decision;
  const planned = plannedAction(prediction.decision);
  const protocolReport = (protocol: Protocol): ProtocolReport => ({
    predictedMs: predictedSpread(prediction, protocol),
    predictedGivenNetworkMs: predictionGivenNetwork && predictedSpread(predictionGivenNetwork, protocol),
    verifiedMs: verifiedSpread(verification?.protocols[protocol]),
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
    baseline: {
      protocols: findings.naturalProtocols ?? prediction.observed.protocols,
      predictedMs: spreadOf(baseline),
      verifiedMs: verifiedSpread(
        verification && verifiedUnder(verification, plannedBaseline(prediction.decision)),
      ),
      measuredMs: measured?.natural ?? null,
    },
    assignment: {
      protocols: action.assignment,
      predictedMs: spreadOf(action.time),
      verifiedMs: verifiedSpread(planned && verification && verifiedUnder(verification, planned)),
      measuredMs: (action.kind === 'leave' ? measured?.natural : measured?.assigned) ?? null,
    },
    decision: decisionAfter(findings),
    reasons: prediction.reasons,
    origins: prediction.origins,
    warnings: findings.warnings,
    elapsedMs: findings.elapsedMs,
    predictionFromRecording: findings.predictionFromRecording,
    prediction,
    verification,
    pinGain: findings.pinGain ?? null,
    recording: findings.recording,
  };
}
