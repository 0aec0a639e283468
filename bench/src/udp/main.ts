/**
 * `npm run bench -- udp`: probes pages in the lab with the native host and compares the verdicts on UDP with what the link does to
 * it.
 */
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { firstLine, verificationSchema } from '@hopwise/contract';
import { type LabNetwork, networkOf, profileNamed } from '@hopwise/lab/client/networks';
import { UserError } from '@hopwise/lab/command/errors';
import { lockFolder } from '@hopwise/lab/command/measuring-lock';
import { makeOutputFolder } from '@hopwise/lab/command/output-folder';
import { type ProgramContext, runProgram } from '@hopwise/lab/command/program';
import { replaceFile } from '@hopwise/lab/command/write-file';
import { openPage, type PageSource } from '@hopwise/lab/pages/page-source';
import { MAX_CHECK_BYTES, type Recording } from '@hopwise/pageload-emulator';
import * as z from 'zod/mini';
import { type JudgedProbe, renderConfusion } from './confusion.ts';
import { parseOptions, type UdpOptions } from './options.ts';
import { bytesOf, MAX_ROUND_KINDS, ProbeLab, partForCheck } from './probe-lab.ts';

/** Network for recording pages: fast and open, so that a probe's transfer plan depends only on the page. */
const RECORDED_ON = 'fast';
/** Protocols of the extension's check. */
const CHECKED = ['h2', 'h3'] as const;

const keptSchema = z.object({ verification: verificationSchema, elapsedMs: z.number() });

await runProgram(async (context) => {
  const options = parseOptions(process.argv.slice(2));
  const cells = cellsOf(options);
  const pages: PageSource[] = [];
  for (const name of options.pages) pages.push(await openPage(name, context.signal));
  const dir = resolve(options.out);
  await makeOutputFolder(options.out);
  const unlock = await lockFolder(dir);
  const judged: JudgedProbe[] = [];
  try {
    await context.useScratch();
    for (const page of pages) judged.push(...(await judgePage(page, cells, dir, options, context)));
  } finally {
    await unlock();
  }
  process.stdout.write(options.json ? `${JSON.stringify(judged, null, 1)}\n` : renderConfusion(judged));
});

interface Cell {
  /** Name of the network, with UDP's rate where it is overridden. */
  name: string;
  network: LabNetwork;
}

/** @throws UserError for an unknown network */
function cellsOf({ networks, udp }: UdpOptions): Cell[] {
  return networks.flatMap((name) =>
    udp.map((mbps): Cell => {
      let network: LabNetwork;
      try {
        network = networkOf(profileNamed(name));
      } catch (error) {
        throw new UserError(firstLine(error), 2);
      }
      return mbps === null
        ? { name, network }
        : { name: `${name}-udp-${mbps}`, network: { ...network, udp: { policedMbps: mbps } } };
    }),
  );
}

async function judgePage(
  page: PageSource,
  cells: readonly Cell[],
  dir: string,
  { seeds, rounds, check }: UdpOptions,
  { cleanup, signal, say }: ProgramContext,
): Promise<JudgedProbe[]> {
  let lab: ProbeLab | null = null;
  let recording: Recording | null = null;
  const judged: JudgedProbe[] = [];
  for (const cell of cells) {
    for (let seed = 1; seed <= seeds; seed++) {
      const file = join(dir, `${page.name}--${cell.name}--${rounds}--${seed}.json`);
      let probe = await kept(file);
      if (!probe) {
        if (!lab || !recording) {
          const up = await ProbeLab.up(
            page,
            networkOf(profileNamed(RECORDED_ON), 1),
            join(dir, 'pages'),
            signal,
          );
          cleanup.add('the lab', () => up.down());
          lab = up;
          const loaded = (await up.load('natural')).recording;
          recording = check ? partForCheck(loaded) : loaded;
        }
        await lab.configure({ ...cell.network, seed });
        const budgetBytes = check ? CHECKED.length * MAX_CHECK_BYTES : budgetOf(recording, rounds);
        const startMs = performance.now();
        const verification = await lab.probe(recording, {
          ...(check && { protocols: CHECKED }),
          rounds,
          budgetBytes,
        });
        probe = { verification, elapsedMs: performance.now() - startMs };
        await replaceFile(file, JSON.stringify(probe));
        say(`${page.name} on ${cell.name}, seed ${seed}: UDP ${verification.udp.verdict}`);
      }
      judged.push({
        page: page.name,
        network: cell.name,
        seed,
        udp: cell.network.udp,
        verdict: probe.verification.udp,
        bytes: probe.verification.bytes,
        elapsedMs: probe.elapsedMs,
      });
    }
  }
  await lab?.down();
  return judged;
}

/** Enough for all rounds, even if a page has grown; null for the probe's own of a single round. */
function budgetOf(recording: Recording, rounds: number): number | null {
  return rounds === 1 ? null : Math.ceil(1.5 * MAX_ROUND_KINDS * rounds * bytesOf(recording));
}

/** Null when not measured yet. */
async function kept(file: string): Promise<z.infer<typeof keptSchema> | null> {
  try {
    return keptSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new UserError(`${file}: not a kept probe: ${firstLine(error)}; remove it`, 2);
  }
}
