/** Fixed rules of choice. */

import { fastestByExperience } from '@hopwise/pageload-emulator';
import { type LabNetwork, toNetworkPath } from '../client/networks.ts';
import type { ProtocolMode } from '../loads/protocol-args.ts';
import { type CellLoads, doesNotLoad } from './cell-loads.ts';

export const RULES = [
  'alwaysH1',
  'alwaysH2',
  'alwaysH3',
  'h3UnlessHindered',
  'experience',
  'natural',
] as const;
export type Rule = (typeof RULES)[number];

/** Name of each rule, and the knowledge that it requires. */
export const RULE_NAMES: Record<Rule, { name: string; knows: string }> = {
  alwaysH1: { name: 'always HTTP/1.1', knows: 'nothing' },
  alwaysH2: { name: 'always HTTP/2', knows: 'nothing' },
  alwaysH3: { name: 'always HTTP/3', knows: 'nothing' },
  h3UnlessHindered: {
    name: 'HTTP/3 unless UDP is hindered',
    knows: "the network's treatment of UDP, without an error",
  },
  experience: { name: 'prior alone', knows: "the network's treatment of UDP and its round trip" },
  natural: { name: "the browser's own choice", knows: 'Alt-Svc, from the first answer of an origin on' },
};

/** `natural`: the browser's own choice, which may differ by load and origin. */
export function ruleChoice(rule: Rule, network: LabNetwork): ProtocolMode {
  switch (rule) {
    case 'alwaysH1':
      return 'h1';
    case 'alwaysH2':
      return 'h2';
    case 'alwaysH3':
      return 'h3';
    case 'h3UnlessHindered':
      return isUdpFree(network) ? 'h3' : 'h2';
    case 'experience':
      return fastestByExperience(toNetworkPath(network));
    case 'natural':
      return 'natural';
  }
}

/** Whether UDP is treated like TCP. */
export const isUdpFree = ({ udp, udpLoss = 0 }: LabNetwork): boolean => udp === 'open' && udpLoss === 0;

/** Whether a choice can be judged in a cell: it was tried. */
export function isTried(cell: CellLoads, choice: ProtocolMode): boolean {
  return cell.pltMs.has(choice) || doesNotLoad(cell, choice);
}
