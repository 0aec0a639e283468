/** What hopwise reads from the emulated recordings of a cell, beside what is true. */
import { median } from '@hopwise/contract';
import {
  buildGraph,
  emulate,
  type FetchActivity,
  type KnownNetwork,
  PROTOCOLS,
  type Protocol,
  type Recording,
  readPage,
} from '@hopwise/pageload-emulator';
import { longestRequest } from './longest-request.ts';
import { FORMS, type Form, recordLoad } from './record-load.ts';
import { type TrueCell, trueTime, uniform } from './true-load.ts';

/** What is known of the network besides the recording: all of it, what happens to UDP, nothing. */
export const KNOWLEDGE = ['network', 'udp', 'nothing'] as const;
export type KnowledgeKind = (typeof KNOWLEDGE)[number];

/** What is read from one recording under one kind of knowledge. */
export interface JudgedReading {
  cell: string;
  udp: string;
  /** Whether the network loses packets at random. */
  lossy: boolean;
  recorded: Protocol;
  form: Form;
  knowledge: KnowledgeKind;
  /** Expected time of each protocol over the true one, less 1. */
  error: Partial<Record<Protocol, number>>;
  /** True time of the protocol expected to be fastest over that of the fastest, less 1. */
  regret: number;
  /** Largest of the requests' times over the recorded one, under the recorded protocol on the network as it is read. */
  longest: number;
  /** Share hung on a cause that ended at another time, of the requests whose cause is not the document. */
  wrongParents: number;
}

const SEEDS = [1, 2, 3, 4, 5];

export function judgeCell(cell: TrueCell): JudgedReading[] {
  const usable = PROTOCOLS.filter((protocol) => protocol !== 'h3' || cell.path.udp.kind !== 'blocked');
  const truth = new Map(usable.map((protocol) => [protocol, trueTime(cell, protocol)]));
  return usable.flatMap((recorded) =>
    FORMS.flatMap((form) => {
      const recording = recordLoad(cell, recorded, form);
      return KNOWLEDGE.map((knowledge) => judgeReading(cell, recording, recorded, form, knowledge, truth));
    }),
  );
}

export function knownOf({ path }: TrueCell, knowledge: KnowledgeKind): KnownNetwork {
  if (knowledge === 'nothing') return {};
  return knowledge === 'udp' ? { udp: path.udp } : path;
}

function judgeReading(
  cell: TrueCell,
  recording: Recording,
  recorded: Protocol,
  form: Form,
  knowledge: KnowledgeKind,
  truth: ReadonlyMap<Protocol, number>,
): JudgedReading {
  const { graph, network } = readPage(recording, { network: knownOf(cell, knowledge) });
  const { path, servers } = network;
  const times = new Map(
    [...truth.keys()].map((protocol) => {
      const assignment = uniform(graph, protocol);
      const loads = SEEDS.map((seed) => emulate(graph, path, servers, assignment, { seed }).pltMs);
      return [protocol, median(loads)] as const;
    }),
  );
  const chosen = [...times].reduce((a, b) => (b[1] < a[1] ? b : a))[0];
  const fastestMs = Math.min(...truth.values());
  return {
    cell: cell.name,
    udp: cell.path.udp.kind,
    lossy: cell.path.loss > 0,
    recorded,
    form,
    knowledge,
    error: Object.fromEntries([...times].map(([protocol, ms]) => [protocol, ms / truth.get(protocol)! - 1])),
    regret: truth.get(chosen)! / fastestMs - 1,
    longest: longestRequest(recording, graph, path, servers, uniform(graph, recorded)),
    wrongParents: wrongParents(cell, recording),
  };
}

/** Share of the requests of scripts whose activity waits for nothing of what they truly wait for. */
function wrongParents({ known }: TrueCell, recording: Recording): number {
  const { activities } = buildGraph(recording);
  const urlOf = (id: number) => recording.requests[activities[id]!.requestId]!.url;
  const late = activities.filter(
    (activity): activity is FetchActivity =>
      activity.kind === 'fetch' && /script|answer/.test(known.get(activity.url)?.means ?? ''),
  );
  const wrong = late.filter(
    ({ url, after }) => !after.some(({ activity }) => urlOf(activity) === known.get(url)!.parent),
  );
  return late.length === 0 ? 0 : wrong.length / late.length;
}
