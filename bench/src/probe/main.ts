/** `npm run bench -- probe`: probes a page on networks drawn at random and compares the measured loss with the link's. */
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { firstLine, verificationSchema } from '@hopwise/contract';
import { EASY_NETWORK } from '@hopwise/lab/client/networks';
import { UserError } from '@hopwise/lab/command/errors';
import { lockFolder } from '@hopwise/lab/command/measuring-lock';
import { makeOutputFolder } from '@hopwise/lab/command/output-folder';
import { type ProgramContext, runProgram } from '@hopwise/lab/command/program';
import { replaceFile } from '@hopwise/lab/command/write-file';
import { openPage } from '@hopwise/lab/pages/page-source';
import { measuredBy, parseRecording, predict, type Recording } from '@hopwise/pageload-emulator';
import * as z from 'zod';
import { bytesOf, MAX_ROUND_KINDS, ProbeLab } from '../udp/probe-lab.ts';
import { type ProbeComparison, renderComparisons } from './comparison.ts';
import { drawCells, type ProbeCell } from './draw-cells.ts';
import { type ProbeBenchOptions, parseOptions } from './options.ts';

const probedSchema = z.object({
  verification: verificationSchema,
  link: z.object({ loss: z.number(), queueDrops: z.number() }),
});

/** A probe, and what the link did meanwhile. */
type Probed = z.infer<typeof probedSchema>;

await runProgram(async (context) => {
  const options = parseOptions(process.argv.slice(2));
  const dir = resolve(options.out);
  await makeOutputFolder(options.out);
  const unlock = await lockFolder(dir);
  let comparisons: ProbeComparison[];
  try {
    await context.useScratch();
    comparisons = await compareCells(dir, options, context);
  } finally {
    await unlock();
  }
  process.stdout.write(
    options.json ? `${JSON.stringify(comparisons, null, 1)}\n` : renderComparisons(comparisons),
  );
});

async function compareCells(
  dir: string,
  options: ProbeBenchOptions,
  { cleanup, signal, say }: ProgramContext,
): Promise<ProbeComparison[]> {
  const page = await openPage(options.page, signal);
  const recordingFile = join(dir, `${page.name}.json`);
  let recording = await kept(recordingFile, parseRecording);
  let lab: ProbeLab | null = null;
  const comparisons: ProbeComparison[] = [];
  for (const cell of drawCells(options.cells, options.seed)) {
    const file = join(dir, `${page.name}--${options.rounds}--${cell.name}.json`);
    let probed = await kept(file, (text) => probedSchema.parse(JSON.parse(text)));
    if (!probed || !recording) {
      if (!lab) {
        const up = await ProbeLab.up(page, EASY_NETWORK, join(dir, 'pages'), signal);
        cleanup.add('the lab', () => up.down());
        lab = up;
      }
      if (!recording) {
        recording = (await lab.load('natural')).recording;
        await replaceFile(recordingFile, JSON.stringify(recording));
      }
      probed = await probeCell(lab, recording, cell, options.rounds);
      await replaceFile(file, JSON.stringify(probed));
      say(`${cell.name}: ${probed.verification.bytes} bytes, UDP ${probed.verification.udp.verdict}`);
    }
    comparisons.push(compare(cell, probed, recording));
  }
  await lab?.down();
  return comparisons;
}

async function probeCell(
  lab: ProbeLab,
  recording: Recording,
  { network }: ProbeCell,
  rounds: number,
): Promise<Probed> {
  await lab.configure(network);
  await lab.resetStats();
  // Enough for all rounds, even if a page has grown.
  const budgetBytes = rounds === 1 ? null : Math.ceil(1.5 * MAX_ROUND_KINDS * rounds * bytesOf(recording));
  const verification = await lab.probe(recording, { rounds, budgetBytes });
  const { packets, drops } = (await lab.stats()).down;
  return { verification, link: { loss: drops.loss / packets, queueDrops: drops.queue / packets } };
}

function compare(cell: ProbeCell, { verification, link }: Probed, recording: Recording): ProbeComparison {
  const { network } = predict(recording, { measured: measuredBy(verification) });
  const { loss, lossBurst } = network.ranges;
  return {
    cell,
    link,
    counted: verification.randomLoss ?? null,
    loss: { median: network.loss, ...loss },
    lossBurst: { median: network.lossBurst, ...lossBurst },
    udp: verification.udp,
  };
}

/** Null where there is no such file yet. */
async function kept<Value>(file: string, parse: (text: string) => Value): Promise<Value | null> {
  try {
    return parse(await readFile(file, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new UserError(`${file}: ${firstLine(error)}; remove it`, 2);
  }
}
