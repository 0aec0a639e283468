/** Structures of recorded pages, from HARs, on drawn servers. */
import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { UserError } from '../command/errors.ts';
import { planReplay } from '../replay/plan.ts';
import { readRecordingFile } from '../replay/replay-of-file.ts';
import { CPU_SLOWDOWNS, type DrawnPage } from './draw-page.ts';
import { drawServers } from './draw-servers.ts';
import { OWNERS, randomFor, type Split } from './splits.ts';

/** A structure replay takes as many. */
const LIMITS = { maxRequests: 3000, maxOrigins: 400 };

/** The split that a recorded page belongs to, by its file's name. */
export function splitOfFile(file: string): Split {
  const hash = createHash('sha256').update(basename(file)).digest();
  return OWNERS[(hash[0] as number) % OWNERS.length] as Split;
}

/**
 * @throws UserError in one line that names the file and what was expected
 */
export async function drawRecordedPage(split: Split, seed: number, file: string): Promise<DrawnPage> {
  const recording = await readRecordingFile(file);
  const title = basename(file)
    .replace(/\.(har|json)(\.gz)?$/, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-');
  const name = `${split}-${seed}-${title}`;
  const random = randomFor(split, seed, 'recorded', title);
  try {
    const { nodes, page, origins } = planReplay(recording, LIMITS);
    const others = origins.map(({ origin }) => origin).filter((origin) => origin !== page.origin);
    return {
      name,
      family: 'recorded',
      nodes,
      cpuSlowdown: random.pick(CPU_SLOWDOWNS),
      origins: drawServers(random, split, [page.origin, ...others]),
    };
  } catch (error) {
    if (error instanceof RangeError) throw new UserError(`${file}: ${error.message}`, 2);
    throw error;
  }
}
