/** The processor time of what the extension's worker does with a recorded page: it learns the network, and predicts. */
import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { median } from '@hopwise/contract';
import type { PageGraph, Protocol, Recording, ServerProfile } from '@hopwise/pageload-emulator';
import * as z from 'zod';
import { recordLoad } from '../reading/record-load.ts';
import type { TrueCell } from '../reading/true-load.ts';

const WORKS = ['learn', 'predict'] as const;
export type Work = (typeof WORKS)[number];

const timesSchema = z.object({ firstMs: z.number(), laterMs: z.number() });
/** Processor time in user mode, milliseconds: in a new process, as browsers start a worker, and when the code has run often. */
export type WorkTimes = z.infer<typeof timesSchema>;

/** Processes for each figure, and how often each repeats the work. */
const PROCESSES = 10;
const REPETITIONS = { learn: 10, predict: 2 } as const;
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** Records an emulated load of a page of which only the document requests anything. */
export function recordPage(
  graph: PageGraph,
  servers: ServerProfile[],
  path: TrueCell['path'],
  protocol: Protocol,
): Recording {
  const fetches = graph.activities.filter((activity) => activity.kind === 'fetch');
  const known = new Map(
    fetches.map(({ url, type, responseBytes, delayMs }, index) => [
      url,
      {
        ...{ url, type, delayMs, bytes: responseBytes, blockers: [], busyMs: 0, thinkMs: 0 },
        parent: index === 0 ? null : fetches[0]!.url,
        means: index === 0 ? ('navigation' as const) : ('markup' as const),
      },
    ]),
  );
  const cell: TrueCell = { name: 'page', graph, servers, path, known, uploads: new Map() };
  return recordLoad(cell, protocol, 'stack');
}

/**
 * Times learning and predicting of recordings, each in ten new processes: one line for each.
 *
 * @param recordings by name
 * @param against another checkout of hopwise, built, which is timed by turns with this one; null for none
 */
export function* timePageWork(
  recordings: ReadonlyMap<string, Recording>,
  against: string | null,
): Generator<string> {
  const roots = [...(against === null ? [] : [resolve(against)]), ROOT];
  for (const work of WORKS) {
    for (const [name, recording] of recordings) {
      const text = JSON.stringify(recording);
      const runs = Array.from({ length: PROCESSES }, () => roots.map((root) => timeIn(root, work, text)));
      const describe = (key: keyof WorkTimes) => {
        const medians = roots.map((_, index) => median(runs.map((run) => run[index]![key])));
        const ratio = median(runs.map((run) => run.at(-1)![key] / run[0]![key]));
        const times = medians.map((ms) => ms.toFixed(1)).join(' → ');
        return `${times} ms${against === null ? '' : ` (×${ratio.toFixed(2)})`}`;
      };
      yield `  ${work}, ${name}: in a new process ${describe('firstMs')}, later ${describe('laterMs')}`;
    }
  }
}

function timeIn(root: string, work: Work, recording: string): WorkTimes {
  const library = join(root, 'pageload-emulator/dist/index.js');
  const script = fileURLToPath(new URL('time-work.ts', import.meta.url));
  const args = [script, library, work, `${REPETITIONS[work]}`];
  const child = spawnSync(process.execPath, args, { input: recording, encoding: 'utf8' });
  if (child.status !== 0) throw new Error(`${library}: ${child.stderr}`);
  return timesSchema.parse(JSON.parse(child.stdout));
}
