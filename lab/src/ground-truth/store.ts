/** A folder of measured loads on disk: written one load at a time, readable after a kill at any moment. */
import { mkdir, open, readdir, readFile, rename, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { firstLine } from '@hopwise/contract';
import { readingProblem } from '@hopwise/contract/command-line';
import * as z from 'zod';
import { dropsSchema, type LabFacts, quicSchema, schedulingSchema, tcpSchema } from '../client/lab.ts';
import { NETWORK_NAME, networkSchema } from '../client/networks.ts';
import { UserError } from '../command/errors.ts';
import { lockFolder } from '../command/measuring-lock.ts';
import type { GroundTruthLoad, GroundTruthMatrix } from './ground-truth.ts';
import { gzipMember, readMembers } from './gzip-members.ts';

const MATRIX_FILE = 'matrix.json';
const LOADS_FOLDER = 'loads';
const LOADS_ENDING = '.jsonl.gz';

const loadProtocol = z.enum(['h1', 'h2', 'h3', 'natural', 'assigned']);
const view = z.enum(['cold', 'warm']);
const seed = z.int().nonnegative();
const milliseconds = z.number().nonnegative();
/** Names become parts of file names and keys of objects, and are written to terminals. */
const networkName = z.string().max(100).regex(NETWORK_NAME);
const PAGE_NAME = /^(?!__proto__$)[^\p{Cc}\p{Cf}/\\]{1,200}$/u;
const pageName = z.string().regex(PAGE_NAME);
const title = z.string().regex(/^[^\p{Cc}]*$/u);

const matrixSchema = z.object({
  format: z.literal('hopwise-ground-truth'),
  version: z.literal(1),
  networks: z.record(networkName, z.object({ title, network: networkSchema })),
  pages: z.record(
    pageName,
    z.object({
      source: z.string(),
      requests: z.int(),
      origins: z.int(),
      bytes: z.number(),
      digest: z.string(),
    }),
  ),
  protocols: z.array(loadProtocol),
  views: z.array(view),
  seeds: z.array(seed),
  browser: z.string(),
  server: z.object({
    stack: z.enum(['go', 'nginx-quiche']).optional(),
    congestionControl: z.enum(['cubic', 'reno', 'bbr']),
    initialWindow: z.int(),
    priorities: z.enum(['honoured', 'ignored']),
    tcp: tcpSchema.optional(),
    quic: quicSchema.optional(),
  }),
  scheduling: schedulingSchema.optional(),
  ipVersion: z.literal([4, 6]).optional(),
  timeoutMs: z.int().positive().optional(),
  machine: z.object({ cpu: z.string(), cores: z.int(), kernel: z.string() }),
});

const MEASURED_LOAD = 'hopwise-measured-load' as const;

/** All but the recording, which `parseRecording` knows how to check. */
const loadSchema = z.object({
  // Folders of old versions have the name that the extension's exports bear.
  format: z.literal(['hopwise-measured-load', 'hopwise-load']).transform(() => MEASURED_LOAD),
  version: z.literal(1),
  page: pageName,
  network: networkName,
  protocol: loadProtocol,
  assignment: z.record(z.string(), z.enum(['h1', 'h2', 'h3'])).optional(),
  view,
  seed,
  at: z.string(),
  repeated: z.int().nonnegative(),
  failures: z.int().nonnegative().optional(),
  disturbed: z.boolean(),
  disturbance: z.looseObject({
    latenessMs: milliseconds,
    foreignCpu: z.number(),
    slowdown: z.number().optional(),
    windowMs: milliseconds.optional(),
  }),
  drops: z.object({ down: dropsSchema, up: dropsSchema }),
  outcome: z.discriminatedUnion('ok', [
    z.object({
      ok: z.literal(true),
      pltMs: milliseconds,
      fcpMs: milliseconds.nullable(),
      lcpMs: milliseconds.nullable(),
      proved: z.boolean(),
      failed: z.array(z.object({ url: z.string(), reason: z.string() })),
      recording: z.looseObject({}),
    }),
    z.object({
      ok: z.literal(false),
      kind: z.enum(['unreachable', 'timeout', 'browser']),
      reason: z.string(),
    }),
  ]),
});

/** Whether loads of a page of this name can be kept. */
export const isKeepableName = (name: string): boolean => PAGE_NAME.test(name);

/** Name of the file with the loads of a cell. */
export function cellFile(page: string, network: string): string {
  return `${page.replace(/[^\w.-]/g, '-')}--${network}${LOADS_ENDING}`;
}

/**
 * The folder's `matrix.json`; null when there is none.
 *
 * @throws UserError naming the invalid entry
 */
export async function readMatrix(dir: string): Promise<GroundTruthMatrix | null> {
  const file = join(dir, MATRIX_FILE);
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new UserError(`${file}: expected a readable file, ${readingProblem(error)}`, 2);
  }
  return checked(matrixSchema, text, file) as GroundTruthMatrix;
}

/**
 * The loads of all cells, file by file in the order they were made. A last load that was only written in part is skipped.
 * Recordings are not checked.
 *
 * @throws UserError naming file and place of an invalid load
 */
export async function* readLoads(dir: string): AsyncGenerator<GroundTruthLoad> {
  for (const file of await loadFiles(dir)) yield* (await readLoadFile(file)).loads;
}

async function loadFiles(dir: string): Promise<string[]> {
  const folder = join(dir, LOADS_FOLDER);
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [] as string[];
    throw error;
  });
  return names
    .filter((name) => name.endsWith(LOADS_ENDING))
    .sort()
    .map((name) => join(folder, name));
}

async function readLoadFile(
  file: string,
): Promise<{ loads: GroundTruthLoad[]; wholeBytes: number; bytes: number }> {
  const content = await readFile(file);
  try {
    const { contents, wholeBytes } = readMembers(content);
    const loads = contents.map(
      (line, index) =>
        checked(loadSchema, line.toString('utf8'), `load ${index + 1}`) as unknown as GroundTruthLoad,
    );
    return { loads, wholeBytes, bytes: content.length };
  } catch (error) {
    throw new UserError(`${file}: ${firstLine(error)}`, 2);
  }
}

function checked<T extends z.ZodType>(schema: T, text: string, what: string): z.infer<T> {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (error) {
    throw new UserError(`${what}: ${firstLine(error)}`, 2);
  }
  const parsed = schema.safeParse(content);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new UserError(`${what}: ${issue?.path.join('.') || 'top level'}: ${issue?.message}`, 2);
}

/** A folder that one run writes to. */
export class GroundTruthStore {
  readonly dir: string;
  /** Bytes of partly written loads that were cut off. */
  readonly cutBytes: number;
  #matrix: GroundTruthMatrix;
  #hasLoads: boolean;
  readonly #unlock: () => Promise<void>;

  private constructor(
    dir: string,
    matrix: GroundTruthMatrix,
    found: { loads: number; cutBytes: number },
    unlock: () => Promise<void>,
  ) {
    this.dir = dir;
    this.#matrix = matrix;
    this.#hasLoads = found.loads > 0;
    this.cutBytes = found.cutBytes;
    this.#unlock = unlock;
  }

  get matrix(): GroundTruthMatrix {
    return this.#matrix;
  }

  /**
   * Creates the folder if needed, locks it and passes each load in it to `onLoad`. Pages, networks, protocols, views and seeds
   * are added to those of the folder.
   *
   * @throws UserError when another run works on it, when its settings differ, or when a file cannot be used
   */
  static async open(
    dir: string,
    asked: GroundTruthMatrix,
    onLoad: (load: GroundTruthLoad) => void,
  ): Promise<GroundTruthStore> {
    try {
      await mkdir(join(dir, LOADS_FOLDER), { recursive: true });
    } catch (error) {
      throw new UserError(`--out ${dir}: ${firstLine(error)}`, 2);
    }
    const unlock = await lockFolder(dir);
    try {
      const present = await readMatrix(dir);
      const matrix = present === null ? asked : joinedMatrix(dir, present, asked);
      const sum = { loads: 0, cutBytes: 0 };
      for (const file of await loadFiles(dir)) {
        const { loads, wholeBytes, bytes } = await readLoadFile(file);
        if (wholeBytes < bytes) {
          await truncate(file, wholeBytes);
          sum.cutBytes += bytes - wholeBytes;
        }
        sum.loads += loads.length;
        loads.forEach(onLoad);
      }
      const store = new GroundTruthStore(dir, matrix, sum, unlock);
      await store.#writeMatrix(matrix);
      return store;
    } catch (error) {
      await unlock();
      throw error;
    }
  }

  /**
   * To be called with the facts of each lab once it is up. They are written to `matrix.json` before the first load; facts of
   * loads already in the folder cannot be added later.
   *
   * @throws UserError when the folder's loads were made in another
   */
  async addLab({ tcp, quic, scheduling }: Pick<LabFacts, 'tcp' | 'quic' | 'scheduling'>): Promise<void> {
    const { server } = this.#matrix;
    refuseOther(this.dir, 'server, tcp', server.tcp, tcp);
    // Without HTTP/3 in a page its lab has no such server.
    if (quic !== null) refuseOther(this.dir, 'server, quic', server.quic, quic);
    refuseOther(this.dir, "scheduling of the link's threads", this.#matrix.scheduling, scheduling);
    if (this.#hasLoads || (server.quic !== undefined && this.#matrix.scheduling !== undefined)) return;
    await this.#writeMatrix({
      ...this.#matrix,
      server: { ...server, tcp, ...(quic && { quic }) },
      scheduling,
    });
  }

  async #writeMatrix(matrix: GroundTruthMatrix): Promise<void> {
    this.#matrix = matrix;
    await replaceFile(join(this.dir, MATRIX_FILE), `${JSON.stringify(matrix, null, 1)}\n`);
  }

  /** Returns once the load is on disk. */
  async append(load: GroundTruthLoad): Promise<void> {
    this.#hasLoads = true;
    const file = await open(join(this.dir, LOADS_FOLDER, cellFile(load.page, load.network)), 'a');
    try {
      await file.appendFile(gzipMember(`${JSON.stringify(load)}\n`));
      await file.sync();
    } finally {
      await file.close();
    }
  }

  async close(): Promise<void> {
    await this.#unlock();
  }
}

/**
 * Joins the folder's matrix with the requested one. A setting that an older folder lacks stays absent.
 *
 * @throws UserError naming the first setting that differs
 */
export function joinedMatrix(
  dir: string,
  present: GroundTruthMatrix,
  asked: GroundTruthMatrix,
): GroundTruthMatrix {
  for (const [name, page] of Object.entries(asked.pages)) {
    refuseOther(dir, `page ${name}`, own(present.pages, name)?.digest, page.digest);
  }
  for (const [name, { network }] of Object.entries(asked.networks)) {
    const was = own(present.networks, name)?.network;
    refuseOther(dir, `network ${name}`, was, network);
  }
  refuseOther(dir, 'server, stack', present.server.stack ?? 'go', asked.server.stack ?? 'go');
  // The versions are only known once a lab is up.
  const { tcp, quic, stack, ...server } = present.server;
  refuseOther(dir, 'server', server, { ...asked.server, tcp: undefined, quic: undefined, stack: undefined });
  refuseOther(dir, 'IP version', present.ipVersion ?? 4, asked.ipVersion ?? 4);
  refuseOther(dir, 'time limit of a load in ms', present.timeoutMs, asked.timeoutMs);
  refuseOther(dir, 'browser', present.browser, asked.browser);
  if (!isDeepStrictEqual(present.machine, asked.machine))
    refuseOther(dir, 'machine', describe(present.machine), describe(asked.machine));
  const union = <T>(a: T[], b: T[]): T[] => [...new Set([...a, ...b])];
  return {
    ...present,
    networks: { ...present.networks, ...asked.networks },
    pages: { ...present.pages, ...asked.pages },
    protocols: union(present.protocols, asked.protocols),
    views: union(present.views, asked.views),
    seeds: union(present.seeds, asked.seeds).sort((a, b) => a - b),
  };
}

const own = <T>(record: Record<string, T>, name: string): T | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined;

/**
 * @param was not compared when undefined; for objects the first differing figure is named
 * @throws UserError
 */
function refuseOther(dir: string, what: string, was: unknown, is: unknown): void {
  if (was === undefined || isDeepStrictEqual(was, is)) return;
  if (isObject(was) && isObject(is)) {
    for (const figure of new Set([...Object.keys(was), ...Object.keys(is)]))
      refuseOther(dir, `${what}, ${figure}`, was[figure] ?? 'none', is[figure] ?? 'none');
    return;
  }
  const word = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
  throw new UserError(
    `${dir}: its loads were made with another ${what}: ${word(was)}, now ${word(is)}: use another folder`,
    2,
  );
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

const describe = ({ cpu, cores, kernel }: GroundTruthMatrix['machine']): string =>
  `${cores} × ${cpu}, ${kernel}`;

/** Atomic: a reader finds the old or the new file, even after a kill. */
async function replaceFile(path: string, text: string): Promise<void> {
  const fresh = `${path}.new`;
  const file = await open(fresh, 'w');
  try {
    await writeFile(file, text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(fresh, path);
}
