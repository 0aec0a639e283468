import type { ProgramContext } from '@hopwise/lab/command/program';
import type { Protocol } from '@hopwise/pageload-emulator';

export const PAPERS = ['econ', 'wisetrans', 'wise', 'vtl', 'blitz'] as const;
export type Paper = (typeof PAPERS)[number];

/** What a run was asked for. */
export interface ClaimOptions {
  /** Folder of the released data, with `econ-pcwnd/` and `wisetrans/`; absent where none was given. */
  data?: string;
  /** No measurements in the lab, and fewer folds. */
  quick: boolean;
  seed: number;
  /** Protocols that recorded pages are loaded under: HTTP/1.1, HTTP/2, and HTTP/3 where it is asked for. */
  protocols: Protocol[];
  /** Loads of each recorded page under each of them on each network. */
  loads: number;
  /** Folder of measured page loads and started flows; what it has is not measured again. */
  out: string;
  /** No load of a recorded page starts after this long. */
  limitMs?: number;
}

/** A figure that does not come from the project's own models, and what the claim requires of it. */
export interface RealFigure {
  source: 'kernel' | 'quiche' | 'Chromium' | 'lab' | 'released data';
  value: number;
  /** Smallest and largest value with which the claim holds; open where left out. */
  min?: number;
  max?: number;
  /** Why these bounds. */
  bounds: string;
  text: string;
}

/** What a run found about a claim. */
export type Finding =
  | { kind: 'measured'; hopwise: string; real: RealFigure }
  /** One machine cannot provide the real side, or not as much of it in a run's time as the paper has. */
  | { kind: 'incomparable'; reason: string }
  /** This run did not measure it, another one can. */
  | { kind: 'skipped'; reason: string };

/** One statement of a paper. */
export interface Claim {
  id: string;
  paper: Paper;
  /** Table, figure or section. */
  place: string;
  /** The paper's figure, as a fact. */
  stated: string;
  measure(options: ClaimOptions, context: ProgramContext): Promise<Finding>;
}

/** For claims whose real side cannot be had on one machine. */
export const incomparable =
  (reason: string): Claim['measure'] =>
  async () => ({ kind: 'incomparable', reason });
