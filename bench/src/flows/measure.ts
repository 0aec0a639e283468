/** Measures the flows that a folder lacks. */
import { createHash } from 'node:crypto';
import { release, type as system } from 'node:os';
import { join } from 'node:path';
import type { ProgramContext } from '@hopwise/lab/command/program';
import { Progress } from '@hopwise/lab/command/progress';
import { makeScratch, removeScratch } from '@hopwise/lab/command/scratch';
import { writeSite } from '@hopwise/lab/sites/write-site';
import { FlowLab, flowSite } from './flow-lab.ts';
import type { FlowCell } from './grid.ts';
import { FlowStore, type FlowsFile, missingSeeds } from './store.ts';

interface MeasureFlows {
  dir: string;
  cells: readonly FlowCell[];
  present: FlowsFile | null;
  /** Flows of a lossy cell. */
  seeds: number;
  labs: number;
}

/** Number of flows in cells that vary only by timing. */
const CLEAN_FLOWS = 5;
const SHORT_MS = 1_000;
const FLOWS_A_ROUND = 4;

/**
 * Seeds of a cell's flows. Each cell has its own, because the same seed loses packets of the same numbers, so that cells
 * sharing seeds would be correlated.
 */
export function seedsOf({ id, network, expectedMs }: FlowCell, seeds: number): number[] {
  const count = network.loss === 0 ? CLEAN_FLOWS : expectedMs < SHORT_MS ? 2 * seeds : seeds;
  const first = createHash('sha256').update(id).digest().readUInt32BE() & 0x3fffff00;
  return Array.from({ length: count }, (_, index) => first + index);
}

interface Work {
  cell: FlowCell;
  seeds: number[];
}

/** First some flows of each cell, then more, so that an interrupted run covers all cells. */
function inRounds(cells: readonly Work[]): Work[] {
  const rounds: Work[] = [];
  const most = Math.max(...cells.map(({ seeds }) => seeds.length));
  for (let from = 0; from < most; from += FLOWS_A_ROUND) {
    for (const { cell, seeds } of cells) {
      const some = seeds.slice(from, from + FLOWS_A_ROUND);
      if (some.length > 0) rounds.push({ cell, seeds: some });
    }
  }
  return rounds;
}

/** @returns all flows in the folder; null when there are none and none were requested */
export async function measureFlows(
  { dir, cells, present, seeds, labs }: MeasureFlows,
  { cleanup, signal }: Pick<ProgramContext, 'cleanup' | 'signal'>,
): Promise<FlowsFile | null> {
  const work = inRounds(
    cells.map((cell) => ({ cell, seeds: missingSeeds(present, cell, seedsOf(cell, seeds)) })),
  );
  if (work.length === 0) return present;
  const progress = new Progress();
  const scratch = await makeScratch('run');
  cleanup.add('the site of the flows', () => removeScratch(scratch));
  const site = join(scratch, 'site');
  await writeSite({ site: flowSite(), files: new Map() }, site);
  const total = work.reduce((sum, each) => sum + each.seeds.length, 0);
  progress.step(`measuring ${total} flows in ${labs} labs`);
  let store: FlowStore | undefined;
  let done = 0;
  let next = 0;
  const worker = async () => {
    const first = work[next];
    if (first === undefined) return;
    const lab = await FlowLab.up(site, first.cell, signal);
    cleanup.add('a lab', () => lab.down());
    store ??= new FlowStore(dir, present, {
      kernel: `${system()} ${release()}`,
      quic: lab.facts.quic!.stack,
      scheduling: lab.facts.scheduling,
    });
    for (let each = work[next++]; each !== undefined; each = work[next++]) {
      await lab.prepare(each.cell);
      for (const seed of each.seeds) {
        signal.throwIfAborted();
        await store.add(each.cell, await lab.measure(each.cell, seed));
        progress.detail(`${++done} of ${total}: ${each.cell.id}`);
      }
      if (!process.stderr.isTTY) progress.step(`${done} of ${total}: ${each.cell.id}`);
    }
    await lab.down();
  };
  await Promise.all(Array.from({ length: Math.min(labs, work.length) }, worker));
  return store!.file;
}
