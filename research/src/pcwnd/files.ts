/**
 * A measurement as two files, named like ECON's:
 *
 *   <network>_<cc>_npc<connections>.csv.gz   `cwnd,p`: loss events over rounds and window
 *   <network>_<cc>_npc<connections>.json     the counts and all settings of the measurement
 */

import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { networkSchema } from '@hopwise/lab/client/networks';
import { InputError } from '@hopwise/pageload-emulator';
import { parsePcwnd } from '@hopwise/pageload-emulator/econ';
import * as z from 'zod';
import { CONGESTION_CONTROLS, measuredSchema, SAMPLERS } from './collect.ts';

/** The settings that identify a measurement. */
const settingsSchema = z.object({
  name: z.string(),
  /** The link as configured, with the seed of its losses. */
  network: networkSchema,
  congestionControl: z.enum(CONGESTION_CONTROLS),
  connections: z.int().positive(),
  seconds: z.number().positive(),
  sampler: z.enum(SAMPLERS),
});

export type PcwndSettings = z.infer<typeof settingsSchema>;

const pcwndFileSchema = z.object({
  format: z.literal('hopwise-pcwnd'),
  version: z.literal(1),
  /** ISO 8601. */
  at: z.string(),
  settings: settingsSchema,
  ...measuredSchema.shape,
});

/** The JSON file. */
export type PcwndFile = z.infer<typeof pcwndFileSchema>;

/** File name without its endings. */
export function fileStem({
  name,
  congestionControl,
  connections,
}: Pick<PcwndSettings, 'name' | 'congestionControl' | 'connections'>): string {
  return `${name}_${congestionControl}_npc${connections}`;
}

/**
 * Rows `cwnd,p` with p = loss events / (rounds · cwnd): the probability that a packet of such a window begins a
 * loss event, as in ECON's files. A window without a loss has p = 0; a window without a round has no row.
 */
export function pcwndCsv(windows: PcwndFile['windows']): string {
  const rows = windows.map(({ cwnd, rounds, lossEvents }) => `${cwnd},${lossEvents / (rounds * cwnd)}\n`);
  return `cwnd,p\n${rows.join('')}`;
}

/** Writes both files; existing ones stay until the new ones are complete. */
export async function writePcwnd(dir: string, file: PcwndFile): Promise<void> {
  const stem = join(dir, fileStem(file.settings));
  const contents = {
    [`${stem}.json`]: `${JSON.stringify(file)}\n`,
    [`${stem}.csv.gz`]: gzipSync(pcwndCsv(file.windows)),
  };
  for (const [path, content] of Object.entries(contents)) await writeFile(`${path}.part`, content);
  for (const path of Object.keys(contents)) await rename(`${path}.part`, path);
}

/** What the folder has: a complete measurement, none, or something unreadable with the reason in one line. */
type Found = { kind: 'whole'; file: PcwndFile } | { kind: 'none' } | { kind: 'unreadable'; reason: string };

export async function findPcwnd(dir: string, settings: PcwndSettings): Promise<Found> {
  const stem = fileStem(settings);
  const [json, csv] = await Promise.all([
    readWhereThere(join(dir, `${stem}.json`)),
    readWhereThere(join(dir, `${stem}.csv.gz`)),
  ]);
  // The JSON file is written first: on its own it stems from a run that was killed between the two.
  if (csv === null) return { kind: 'none' };
  if (json === null) {
    return { kind: 'unreadable', reason: `${stem}.csv.gz: expected ${stem}.json with its counts beside it` };
  }
  let file: PcwndFile;
  try {
    const parsed = pcwndFileSchema.safeParse(JSON.parse(json.toString()));
    if (!parsed.success) {
      const issue = parsed.error.issues[0]!;
      return {
        kind: 'unreadable',
        reason: `${stem}.json: ${issue.path.join('.') || 'top level'}: ${issue.message}`,
      };
    }
    file = parsed.data;
  } catch {
    return { kind: 'unreadable', reason: `${stem}.json: expected JSON` };
  }
  try {
    const text = gunzipSync(csv).toString();
    parsePcwnd(text);
    if (text !== pcwndCsv(file.windows)) {
      return { kind: 'unreadable', reason: `${stem}.csv.gz: expected what the counts in ${stem}.json give` };
    }
  } catch (error) {
    const reason = error instanceof InputError ? error.message : 'expected a whole gzip file';
    return { kind: 'unreadable', reason: `${stem}.csv.gz: ${reason}` };
  }
  return { kind: 'whole', file };
}

/** The first setting in which two measurements differ, as `seconds 30, not 60`; null when they are equal. */
export function difference(there: PcwndSettings, wanted: PcwndSettings): string | null {
  const rows: [string, unknown, unknown][] = [
    ['seconds', there.seconds, wanted.seconds],
    ['sampler', there.sampler, wanted.sampler],
    ...[...new Set([...Object.keys(there.network), ...Object.keys(wanted.network)])].map(
      (name): [string, unknown, unknown] => [
        name,
        there.network[name as keyof PcwndSettings['network']],
        wanted.network[name as keyof PcwndSettings['network']],
      ],
    ),
  ];
  const other = rows.find(([, is, want]) => JSON.stringify(is) !== JSON.stringify(want));
  return other ? `${other[0]} ${JSON.stringify(other[1])}, not ${JSON.stringify(other[2])}` : null;
}

async function readWhereThere(path: string): Promise<Buffer | null> {
  try {
    return await readFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
