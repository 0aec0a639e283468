/** What `npm run model -- stack` learns from and is judged by: predictions beside measured load times, a row for each recorded load. */

import { bestOf, mediansAt } from '@hopwise/lab/judge/cell-ground-truth';
import { regretOf } from '@hopwise/lab/judge/regret';
import { isTried, ruleChoice } from '@hopwise/lab/judge/rules';
import type { ProtocolMode } from '@hopwise/lab/loads/protocol-args';
import {
  PROTOCOLS,
  type Prediction,
  type PredictOptions,
  type Protocol,
  predict,
} from '@hopwise/pageload-emulator';
import type { Cell, Recorded } from './cells.ts';
import { choiceOf } from './choosers.ts';

/** What is known besides the recording: the path, what happens to UDP, or nothing. */
export const KNOWLEDGE = ['given', 'udp', 'estimated'] as const;
type Knowledge = (typeof KNOWLEDGE)[number];

/** One line of the file. */
export interface StackingRow {
  page: string;
  network: string;
  knowledge: Knowledge;
  /** Describe page, load and network as hopwise sees them; null for what it does not know. */
  features: Record<string, number | null>;
  /** Emulated load times; absent for protocols that cannot carry the page. */
  predictedMs: Partial<Record<Protocol, number>>;
  /** `decision.best`, and what the rule "HTTP/3 unless UDP is hindered" chooses, which knows the network's UDP without an error. */
  decision: Protocol;
  rule: Protocol;
  /** Measured: the median load time of each choice; with a fallback where the protocol does not load the page, see `regretOf`. */
  costMs: Partial<Record<Protocol, number>>;
}

/** @returns null where the loads cannot judge the choices */
export function stackingRow(cell: Cell, recorded: Recorded, knowledge: Knowledge): StackingRow | null {
  const costMs = costsOf(cell, recorded.judgingSeeds);
  const { path } = cell;
  const known: Record<Knowledge, Pick<PredictOptions, 'network'>> = {
    given: { network: path },
    udp: { network: { udp: path.udp } },
    estimated: {},
  };
  const prediction = predict(recorded.recording, known[knowledge]);
  const predictedMs: StackingRow['predictedMs'] = {};
  for (const protocol of PROTOCOLS) {
    const time = prediction.emulated.protocols[protocol];
    if (!('unavailable' in time)) predictedMs[protocol] = time.pltMs;
  }
  const tried = PROTOCOLS.filter((protocol) => costMs[protocol] !== undefined);
  const decision = choiceOf({ best: prediction.decision.best, pltMs: predictedMs }, tried);
  const rule = ruleChoice('h3UnlessHindered', cell.link);
  if (decision === null || !isProtocol(rule) || !tried.includes(rule) || tried.length < 2) return null;
  const { page, network } = cell;
  const features = featuresOf(prediction);
  return { page, network, knowledge, features, predictedMs, decision, rule, costMs };
}

const isProtocol = (mode: ProtocolMode): mode is Protocol => PROTOCOLS.some((each) => each === mode);

function costsOf({ loads }: Cell, judgingSeeds: readonly number[]): StackingRow['costMs'] {
  const medians = mediansAt(loads, judgingSeeds);
  const best = bestOf(medians);
  if (best === undefined) return {};
  return Object.fromEntries(
    PROTOCOLS.filter((protocol) => isTried(loads, protocol)).flatMap((protocol) => {
      const regret = regretOf(loads, protocol, judgingSeeds);
      return regret === null ? [] : [[protocol, (1 + regret) * medians[best]!]];
    }),
  );
}

function featuresOf({ page, network, observed }: Prediction): StackingRow['features'] {
  const { rttMs, downMbps, upMbps, loss, lossBurst, queueBytes, udpShares } = network;
  const answered = Object.values(observed.protocols).reduce((sum, count) => sum + count, 0);
  return {
    requests: page.requests,
    origins: page.origins,
    bytes: page.bytes,
    recordedMs: observed.pltMs,
    h3Share: answered === 0 ? null : (observed.protocols.h3 ?? 0) / answered,
    rttMs,
    downMbps,
    upMbps,
    loss,
    lossBurst,
    queueBytes,
    udpPoliced: udpShares.policed,
    udpBlocked: udpShares.blocked,
  };
}
