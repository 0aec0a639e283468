/** A cell with the recordings of all of its loads: what a recording is read as is judged by every protocol's recordings. */
import { type LabNetwork, toNetworkPath } from '@hopwise/lab/client/networks';
import { UserError } from '@hopwise/lab/command/errors';
import { type KnownPage, readKnownPages } from '@hopwise/lab/gauntlet/known-pages';
import type { GroundTruthLoad } from '@hopwise/lab/ground-truth/ground-truth';
import { readLoads, readMatrix } from '@hopwise/lab/ground-truth/store';
import { type CellLoads, judgeLoads } from '@hopwise/lab/judge/cell-loads';
import type { ProtocolMode } from '@hopwise/lab/loads/protocol-args';
import { type NetworkPath, parseRecording, type Recording } from '@hopwise/pageload-emulator';
import type { Selection } from '../cells.ts';

export interface RecordedLoad {
  protocol: ProtocolMode;
  seed: number;
  recording: Recording;
  /** Packets that the link dropped during the load, in both directions. */
  dropped: number;
}

export interface MeasuredCell {
  page: string;
  network: string;
  link: LabNetwork;
  path: NetworkPath;
  loads: CellLoads<GroundTruthLoad>;
  /** Sound cold loads with a recording. */
  recorded: RecordedLoad[];
  /** What is true of the page; null where it was not drawn. */
  known: KnownPage | null;
}

/**
 * Cell by cell, as the recordings of a folder do not fit into memory together.
 *
 * @throws UserError as `readCells`
 */
export async function* measuredCells(dir: string, selection: Selection = {}): AsyncGenerator<MeasuredCell> {
  const matrix = await readMatrix(dir);
  if (matrix === null) throw new UserError(`${dir}: expected a folder with a matrix.json of npm run lab`, 2);
  const known = await readKnownPages(dir);
  const finish = (own: GroundTruthLoad[]): MeasuredCell[] =>
    judgeLoads(own, matrix.networks).cells.map((loads) => {
      const { page, network } = loads;
      const link = matrix.networks[network]!.network;
      return {
        page,
        network,
        link,
        path: toNetworkPath(link),
        loads,
        recorded: loads.sound.flatMap(recordedLoad),
        known: known?.pages[page] ?? null,
      };
    });
  let own: GroundTruthLoad[] = [];
  // The loads of a cell are in one file, so they follow each other.
  for await (const load of readLoads(dir)) {
    if (selection.pages && !selection.pages.includes(load.page)) continue;
    if (selection.networks && !selection.networks.includes(load.network)) continue;
    if (load.view !== 'cold') continue;
    const [first] = own;
    if (first && (first.page !== load.page || first.network !== load.network)) {
      yield* finish(own);
      own = [];
    }
    own.push(load);
  }
  if (own.length > 0) yield* finish(own);
}

function recordedLoad({ protocol, seed, outcome, drops: { down, up } }: GroundTruthLoad): RecordedLoad[] {
  if (!outcome.ok || protocol === 'assigned' || outcome.recording.requests.length === 0) return [];
  const dropped = [down, up].reduce((sum, { loss, udpLoss }) => sum + loss + udpLoss, 0);
  return [{ protocol, seed, recording: parseRecording(outcome.recording), dropped }];
}
