import type { KnownNetwork, Language } from '@hopwise/contract';
import type { AdviseOptions, Explanation, Recording, ServerAdviceList } from '@hopwise/pageload-emulator';
import type { EconTimes } from './econ-times.ts';
import type { GraphLayout } from './graph-layout.ts';
import type { OriginFacts } from './origin-facts.ts';
import type { SeenNetwork } from './pooled-network.ts';
import type { OpenedFile } from './read-file.ts';
import type { ProtocolTimes, WhatIfSettings } from './what-if.ts';
import type { MapCell } from './winner-map.ts';

/** To the worker. A question replaces an earlier one of its kind that is not answered yet. */
export type EmulationRequest =
  | { kind: 'page'; recording: Recording }
  | { kind: 'open'; file: File; language: Language }
  | { kind: 'explain'; network: KnownNetwork }
  | { kind: 'what-if'; id: number; settings: WhatIfSettings }
  | { kind: 'map'; id: number; settings: WhatIfSettings }
  /** Asks for ECON's load times with the loss by window of a file. */
  | { kind: 'econ'; id: number; settings: WhatIfSettings; pcwnd: string }
  | { kind: 'servers'; id: number; options: AdviseOptions }
  | { kind: 'origins'; id: number }
  /** Asks for the graph of the page, with the numbers of the requests along critical paths. */
  | { kind: 'graph'; id: number; criticalPaths: number[][]; groupsAlike: boolean }
  /** Loads of one page, oldest first. */
  | { kind: 'network'; id: number; loads: { recording: Recording; isPooled: boolean }[] };

/** From the worker. */
export type EmulationAnswer =
  | { kind: 'explain'; protocols: Explanation['protocols'] }
  /** The first answer to a question rests on one load; later ones on more, until `isFinal`. */
  | { kind: 'what-if'; id: number; times: ProtocolTimes; loads: number; isFinal: boolean }
  | { kind: 'map'; id: number; cells: MapCell[]; isFinal: boolean }
  | { kind: 'econ'; id: number; times: EconTimes }
  | { kind: 'origins'; id: number; origins: OriginFacts[] }
  | { kind: 'graph'; id: number; layout: GraphLayout }
  /** The share of the kinds of changes that have been tried, and in the end the advice. */
  | { kind: 'servers'; id: number; tried: number; list: ServerAdviceList | null }
  /** What one load shows, and what the pooled ones so far show together. */
  | { kind: 'network'; id: number; index: number; own: SeenNetwork; pooled: SeenNetwork | null }
  | { kind: 'opened'; opened: OpenedFile }
  /** `of` and `id` are those of the question that has no answer for it; null for other requests. */
  | { kind: 'problem'; problem: string; of: EmulationRequest['kind']; id: number | null };
