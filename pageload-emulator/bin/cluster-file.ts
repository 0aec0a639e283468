import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { readingProblem, writingProblem } from '@hopwise/contract/command-line';
import {
  InputError,
  learnNetwork,
  type NetworkCluster,
  type NetworkEstimate,
  parseCluster,
  type Recording,
} from '@hopwise/pageload-emulator';

/** A cluster takes less than a kilobyte: a larger file is something else. */
const MAX_BYTES = 100_000;

/** What earlier loads showed of a network, in a file or for one run. */
export class ClusterFile {
  readonly #file: string | null;
  #cluster: NetworkCluster | null;

  private constructor(file: string | null, cluster: NetworkCluster | null) {
    this.#file = file;
    this.#cluster = cluster;
  }

  /**
   * @param file null for none
   * @param learn whether the file may be missing yet
   * @throws InputError, whose message names the file, when it holds no cluster
   */
  static async open(file: string | null, learn: boolean): Promise<ClusterFile> {
    return new ClusterFile(file, file === null ? null : await readCluster(file, learn));
  }

  get cluster(): NetworkCluster | null {
    return this.#cluster;
  }

  /**
   * Adds a load and writes the file.
   *
   * @returns what is known of the load's own network from those before it, and whether they were of another one
   * @throws InputError, whose message names the file, when it cannot be written
   */
  async learn(
    recording: Recording,
    estimate: NetworkEstimate,
  ): Promise<{ before: NetworkCluster | null; isOther: boolean }> {
    const before = this.#cluster;
    this.#cluster = learnNetwork(before, recording, undefined, undefined, estimate);
    if (this.#file !== null) await writeCluster(this.#file, this.#cluster);
    const isOther = before !== null && this.#cluster.loads === 1;
    return { before: isOther ? null : before, isOther };
  }
}

async function readCluster(file: string, mayBeMissing: boolean): Promise<NetworkCluster | null> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    if (isMissing && mayBeMissing) return null;
    const hint = isMissing ? ' (--learn makes one)' : '';
    throw new InputError(`${file}: expected a network cluster, ${readingProblem(error)}${hint}`);
  }
  const cluster = text.length > MAX_BYTES ? null : parseCluster(parsedJson(text));
  if (cluster === null)
    throw new InputError(`${file}: top level: expected a network cluster, as --learn writes it`);
  return cluster;
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Whole or not at all: a run may be ended at any moment. */
async function writeCluster(file: string, cluster: NetworkCluster): Promise<void> {
  const beside = `${file}.${process.pid}.tmp`;
  try {
    await writeFile(beside, `${JSON.stringify(cluster, null, 1)}\n`);
    await rename(beside, file);
  } catch (error) {
    await rm(beside, { force: true }).catch(() => {}); // What made the write fail may forbid this too, and is what counts.
    throw new InputError(`${file}: expected a file that can be written, ${writingProblem(error)}`);
  }
}
