import type { AdviceKind } from './improvements.ts';

/** Pages and networks on which the lab measured an advice, and on how many the gain was within 5 points of the promise. */
export interface Proof {
  kept: number;
  cells: number;
}

/** What `npm run lab -- advise` showed; the cells are in `lab/docs/advise.md`. */
export const PROOFS: Readonly<Record<AdviceKind, Proof>> = {
  'offer-h3': { kept: 4, cells: 5 },
  'withdraw-h3': { kept: 3, cells: 5 },
  'https-record': { kept: 2, cells: 5 },
  'early-data': { kept: 3, cells: 5 },
  'initial-window': { kept: 2, cells: 5 },
  bbr: { kept: 1, cells: 3 },
  'tls-1.3': { kept: 1, cells: 3 },
  priorities: { kept: 1, cells: 3 },
  compression: { kept: 1, cells: 5 },
  'one-origin': { kept: 3, cells: 5 },
  preconnect: { kept: 0, cells: 0 },
  preload: { kept: 1, cells: 3 },
};

/** Whether most measured cells kept the promise. */
export const isProven = (kind: AdviceKind): boolean => 2 * PROOFS[kind].kept > PROOFS[kind].cells;
