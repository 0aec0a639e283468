/** Emulates loads beside the panel, so that it stays responsive: a coarse answer first, refined while no newer question has come. */
import { median, messageOf } from '@hopwise/contract';
import {
  adviseServersInSteps,
  EmulationError,
  explain,
  InputError,
  PROTOCOLS,
  type Recording,
  readPage,
} from '@hopwise/pageload-emulator';
import { readLossByWindow } from '@hopwise/pageload-emulator/econ';
import { buildRequestGraph } from './dependency-graph.ts';
import { econTimesInSteps } from './econ-times.ts';
import type { EmulationAnswer, EmulationRequest } from './emulation-messages.ts';
import { layOutGraph } from './graph-layout.ts';
import { gatherOriginFacts } from './origin-facts.ts';
import { PooledNetwork, type SeenNetwork } from './pooled-network.ts';
import { readFile } from './read-file.ts';
import { type EmulatedPage, emulateLoads, type ProtocolTimes } from './what-if.ts';
import { computeCell, MAP_LOSSES, MAP_RTTS_MS, type MapCell } from './winner-map.ts';

/** Loads of a final answer. */
const LOADS = 15;

let recording: Recording | null = null;
let page: EmulatedPage | null = null;
/** Number of the newest question by kind. */
const newest = { 'what-if': 0, map: 0, econ: 0, network: 0, graph: 0, origins: 0, servers: 0 };

const answer = (message: EmulationAnswer) => postMessage(message);

/** Lets messages in that have arrived meanwhile. A timer of no delay would wait 4 ms when it is nested. */
function receiveMessages(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}

async function answerWhatIf({ id, settings }: EmulationRequest & { kind: 'what-if' }): Promise<void> {
  const loads: ProtocolTimes[] = [];
  const count = settings.network.loss === 0 ? 1 : LOADS;
  while (loads.length < count && newest['what-if'] === id && page) {
    loads.push(emulateLoads(page, settings, loads.length + 1));
    const isFinal = loads.length === count;
    if (isFinal || loads.length === 1 || loads.length % 5 === 0) {
      answer({ kind: 'what-if', id, times: mediansOf(loads), loads: loads.length, isFinal });
    }
    await receiveMessages();
  }
}

function mediansOf(loads: readonly ProtocolTimes[]): ProtocolTimes {
  return Object.fromEntries(
    PROTOCOLS.map((protocol) => {
      const times = loads.map((load) => load[protocol]).filter((ms) => ms !== null);
      return [protocol, times.length < loads.length ? null : median(times)];
    }),
  ) as ProtocolTimes;
}

async function answerMap({ id, settings }: EmulationRequest & { kind: 'map' }): Promise<void> {
  const cells: MapCell[] = [];
  for (const loss of MAP_LOSSES) {
    for (const rttMs of MAP_RTTS_MS) {
      if (newest.map !== id || !page) return;
      cells.push(computeCell(page, settings, rttMs, loss));
      await receiveMessages();
    }
    answer({ kind: 'map', id, cells: [...cells], isFinal: loss === MAP_LOSSES.at(-1) });
  }
}

async function answerEcon({ id, settings, pcwnd }: EmulationRequest & { kind: 'econ' }): Promise<void> {
  if (!page) return;
  const steps = econTimesInSteps(page, settings, readLossByWindow(pcwnd));
  while (newest.econ === id) {
    const step = steps.next();
    if (step.done) return answer({ kind: 'econ', id, times: step.value });
    await receiveMessages();
  }
}

async function answerServers({ id, options }: EmulationRequest & { kind: 'servers' }): Promise<void> {
  const own = recording;
  if (!own) return;
  const steps = adviseServersInSteps([own], options);
  while (newest.servers === id && recording === own) {
    const step = steps.next();
    if (step.done) return answer({ kind: 'servers', id, tried: 1, list: step.value });
    answer({ kind: 'servers', id, tried: step.value, list: null });
    await receiveMessages();
  }
}

function answerGraph({ id, criticalPaths, groupsAlike }: EmulationRequest & { kind: 'graph' }): void {
  if (!page || !recording) return;
  const graph = buildRequestGraph(page.graph, recording, criticalPaths, groupsAlike);
  answer({ kind: 'graph', id, layout: layOutGraph(graph) });
}

function answerOrigins({ id }: EmulationRequest & { kind: 'origins' }): void {
  if (recording) answer({ kind: 'origins', id, origins: gatherOriginFacts(recording) });
}

async function answerNetwork({ id, loads }: EmulationRequest & { kind: 'network' }): Promise<void> {
  const together = new PooledNetwork();
  let pooled: SeenNetwork | null = null;
  for (const [index, { recording: each, isPooled }] of loads.entries()) {
    if (newest.network !== id) return;
    try {
      if (isPooled) pooled = together.add(each);
      answer({ kind: 'network', id, index, own: new PooledNetwork().add(each), pooled });
    } catch (error) {
      // A load that cannot be emulated shows nothing of its network.
      if (!(error instanceof EmulationError || error instanceof InputError)) throw error;
    }
    await receiveMessages();
  }
}

addEventListener('message', async ({ data }: MessageEvent<EmulationRequest>) => {
  try {
    if (data.kind === 'open') answer({ kind: 'opened', opened: await readFile(data.file, data.language) });
    else if (data.kind === 'page') {
      recording = data.recording;
      const { graph, network } = readPage(recording);
      page = { graph, servers: network.servers };
    } else if (data.kind === 'explain') {
      if (recording)
        answer({ kind: 'explain', protocols: explain(recording, { network: data.network }).protocols });
    } else {
      newest[data.kind] = data.id;
      if (data.kind === 'map') await answerMap(data);
      else if (data.kind === 'econ') await answerEcon(data);
      else if (data.kind === 'network') await answerNetwork(data);
      else if (data.kind === 'graph') answerGraph(data);
      else if (data.kind === 'origins') answerOrigins(data);
      else if (data.kind === 'servers') await answerServers(data);
      else await answerWhatIf(data);
    }
  } catch (error) {
    const problem = messageOf(error);
    answer({ kind: 'problem', problem, of: data.kind, id: 'id' in data ? data.id : null });
    // Others are defects, which belong in the console too.
    if (!(error instanceof EmulationError || error instanceof InputError)) throw error;
  }
});
