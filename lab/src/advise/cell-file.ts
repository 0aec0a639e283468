/** Measured cells on disk, so that a stopped run can go on. */
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { firstLine } from '@hopwise/contract';
import { parseRecording } from '@hopwise/pageload-emulator';
import * as z from 'zod';
import { NETWORK_NAME, networkSchema } from '../client/networks.ts';
import { UserError } from '../command/errors.ts';
import { fileNamePart, replaceFile } from '../command/write-file.ts';
import type { AdviceCell } from './measure-cell.ts';
import { SET_UP_NAMES } from './set-ups.ts';

const setUp = z.enum(SET_UP_NAMES);

const cellSchema = z.object({
  page: z.string(),
  network: z.string().regex(NETWORK_NAME),
  path: networkSchema,
  stack: z.enum(['go', 'nginx-quiche']),
  timesMs: z.partialRecord(setUp, z.array(z.number().positive()).min(1)),
  recordings: z.partialRecord(
    setUp,
    z.looseObject({}).transform((recording) => parseRecording(JSON.stringify(recording))),
  ),
  gzipBytes: z.record(z.string(), z.int().nonnegative()),
});

type CellKey = Pick<AdviceCell, 'page' | 'network' | 'stack'>;

const cellPath = (dir: string, { page, network, stack }: CellKey): string =>
  join(dir, `${fileNamePart(page)}--${network}--${stack}.json.gz`);

/** Reads a cell. @returns null when it has not been measured */
export async function readCell(dir: string, key: CellKey): Promise<AdviceCell | null> {
  const file = cellPath(dir, key);
  let compressed: Buffer;
  try {
    compressed = await readFile(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  try {
    return cellSchema.parse(JSON.parse(gunzipSync(compressed).toString()));
  } catch (error) {
    throw new UserError(
      `${file}: expected a cell of advise: ${firstLine(error)}: delete it to measure again`,
      2,
    );
  }
}

export async function writeCell(dir: string, cell: AdviceCell): Promise<void> {
  await mkdir(dir, { recursive: true });
  await replaceFile(cellPath(dir, cell), gzipSync(JSON.stringify(cell)));
}
