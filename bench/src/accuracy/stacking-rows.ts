/** What `npm run model -- stack` learns from and is judged by: answers beside true load times, a row for each recorded load. */

import { bestOf, mediansAt } from '@hopwise/lab/judge/cell-ground-truth';
import { regretOf } from '@hopwise/lab/judge/regret';
import { isTried, ruleChoice } from '@hopwise/lab/judge/rules';
import type { ProtocolMode } from '@hopwise/lab/loads/protocol-args';
import {
  type KnownNetwork,
  type NetworkPath,
  PROTOCOLS,
  type Protocol,
  predict,
} from '@hopwise/pageload-emulator';
import type { Cell, Recorded } from './cells.ts';
import { choiceOf } from './choosers.ts';
import { type StackingFeatures, stackingFeatures } from './stacking-features.ts';

/** What is known besides the recording: what happens to UDP, or nothing. */
export const KNOWLEDGE = ['udp', 'estimated'] as const;
type Knowledge = (typeof KNOWLEDGE)[number];

/** One line of the file. */
export interface StackingRow {
  page: string;
  network: string;
  knowledge: Knowledge;
  /** What the recorded load used: one protocol, or the browser's own choice. */
  recorded: Protocol | 'natural';
  /** What happens to UDP on the network. */
  udp: NetworkPath['udp']['kind'];
  features: StackingFeatures;
  /** `decision.best`, and what the rule "HTTP/3 unless UDP is hindered" chooses, which knows the network's UDP without an error. */
  decision: Protocol;
  rule: Protocol;
  /** True times: the median load time of each choice; with a fallback where the protocol does not load the page, see `regretOf`. */
  costMs: Partial<Record<Protocol, number>>;
}

/** @returns null where the loads cannot judge the choices */
export function stackingRow(cell: Cell, recorded: Recorded, knowledge: Knowledge): StackingRow | null {
  const costMs = costsOf(cell, recorded.judgingSeeds);
  const { path } = cell;
  const prediction = predict(recorded.recording, { network: knownOf(path, knowledge) });
  const decidedMs = Object.fromEntries(
    Object.entries(prediction.decision.protocols).map(([protocol, { pltMs }]) => [protocol, pltMs]),
  );
  const tried = PROTOCOLS.filter((protocol) => costMs[protocol] !== undefined);
  const decision = choiceOf({ best: prediction.decision.best, pltMs: decidedMs }, tried);
  const rule = ruleChoice('h3UnlessHindered', cell.link);
  if (decision === null || !isProtocol(rule) || !tried.includes(rule) || tried.length < 2) return null;
  const { page, network, recordedUnder } = cell;
  const features = stackingFeatures(prediction, recorded.recording);
  const place = { page, network, knowledge, recorded: recordedUnder, udp: path.udp.kind };
  return { ...place, features, decision, rule, costMs };
}

export const knownOf = ({ udp }: NetworkPath, knowledge: Knowledge): KnownNetwork =>
  knowledge === 'udp' ? { udp } : {};

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
