/** Loads of recorded pages under each protocol at Table 4's losses (section 6.4.3), into a folder of measured loads. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { labObstacle } from '@hopwise/lab/client/lab';
import type { LabNetwork } from '@hopwise/lab/client/networks';
import { UserError } from '@hopwise/lab/command/errors';
import type { ProgramContext } from '@hopwise/lab/command/program';
import { readMatrix } from '@hopwise/lab/ground-truth/store';
import { planCells } from '@hopwise/lab/matrix/matrix';
import { factsOf, type MatrixPage } from '@hopwise/lab/matrix/matrix-page';
import { measurePlan } from '@hopwise/lab/matrix/measure-plan';
import { checkPage } from '@hopwise/lab/pages/check-page';
import { openPage } from '@hopwise/lab/pages/page-source';
import { isFaithful } from '@hopwise/lab/replay/check-replay';
import { PROTOCOLS, type Protocol } from '@hopwise/pageload-emulator';

export const LOSSES = [1e-5, 1e-4, 1e-3, 1e-2] as const;
/** The paper's. */
const RTT_MS = 50;
/** Table 3's, because that of the pages is not stated. */
const MBPS = 50;
export const PAGES = 10;

/** The range of objects that the paper's pages have. */
const REQUESTS = { min: 20, max: 500 };
/** Larger pages take long at 1% loss. */
const MAX_BYTES = 2e6;
const TIMEOUT_MS = 120_000;
const QUIET_LIMIT_MS = 5_000;

/** The one load of each page that its predictions are made from: the browser's own choice at the lowest loss. */
export const RECORDED = { protocol: 'natural', loss: LOSSES[0], seed: 1 } as const;

export const networkName = (loss: number): string => `loss-${loss.toExponential()}`;

export const networkAt = (loss: number): LabNetwork => ({
  rttMs: RTT_MS,
  downMbps: MBPS,
  upMbps: MBPS,
  loss,
  lossBurst: 1,
  queue: { bdp: 1 },
  udp: 'open',
});

interface PagesOptions {
  /** Folder of `index.csv` and the HARs that it names. */
  recordings: string;
  /** Folder of the measured loads; an existing one is continued. */
  out: string;
  protocols: readonly Protocol[];
  /** Number of loads of each page under each protocol at each loss. */
  loads: number;
  /** No load starts after this. */
  limitMs?: number;
}

/**
 * Measures the loads that the folder lacks.
 *
 * @returns why they could not be made or are not complete, or null
 */
export async function measurePages(
  { recordings, out, protocols, loads, limitMs }: PagesOptions,
  context: ProgramContext,
): Promise<string | null> {
  const files = await choosePages(recordings, out, context);
  if (typeof files === 'string') return files;
  const pages = await Promise.all(files.map((file) => openRecordedPage(join(recordings, file), file)));
  const seeds = Array.from({ length: loads }, (_, index) => index + 1);
  const cellsAt = (losses: readonly number[]) =>
    pages.flatMap(({ name }) => losses.map((loss) => ({ page: name, network: networkName(loss) })));
  const views = ['cold' as const];
  const planned = [
    ...planCells(cellsAt([RECORDED.loss]), { protocols: [RECORDED.protocol], views, seeds: [RECORDED.seed] }),
    ...planCells(cellsAt(LOSSES), { protocols: [...protocols], views, seeds }),
  ];
  const networks = LOSSES.map((loss) => [
    networkName(loss),
    { title: `loss ${100 * loss}%`, network: networkAt(loss) },
  ]);
  const result = await measurePlan(
    {
      title: `${pages.length} recorded pages × ${LOSSES.length} losses × ${protocols.join(', ')} × ${loads} loads`,
      loads: planned,
      pages,
      networks: Object.fromEntries(networks),
      protocols: [...protocols, RECORDED.protocol],
      views,
      seeds,
      out,
      server: { congestionControl: 'cubic', initialWindow: 10, priorities: 'honoured' },
      assignmentFile: null,
      ipVersion: 4,
      timeoutMs: TIMEOUT_MS,
      quietLimitMs: QUIET_LIMIT_MS,
      repeatDisturbed: false,
      ...(limitMs === undefined ? {} : { limitMs }),
      onlyPlan: false,
    },
    context,
  );
  if (result === null || result.left === 0) return null;
  return `${result.left} of ${planned.length} loads are left: the same command continues`;
}

/**
 * Files of the pages: those of the folder that is continued; for a new one the first ten of `index.csv` with 20 to 500
 * requests, at most 2 MB, and a replay that repeats its requests under each protocol.
 *
 * @returns why there are too few
 */
async function choosePages(
  recordings: string,
  out: string,
  context: ProgramContext,
): Promise<string | string[]> {
  const index = await readFile(join(recordings, 'index.csv'), 'utf8').catch(() => null);
  if (index === null) return 'no har/index.csv in --data';
  const candidates = pagesInIndex(index);
  const obstacle = await labObstacle();
  if (obstacle !== null) return obstacle;
  const measured = Object.keys((await readMatrix(out))?.pages ?? {});
  if (measured.length > 0) return candidates.filter((file) => measured.includes(pageName(file)));
  await context.useScratch();
  const chosen: string[] = [];
  for (const file of candidates) {
    if (chosen.length === PAGES) break;
    const { loads } = await checkPage(join(recordings, `${file}.gz`), {
      protocols: PROTOCOLS,
      timeoutMs: TIMEOUT_MS,
      signal: context.signal,
    });
    if (loads.every(isFaithful)) chosen.push(file);
    context.say(`${file}: ${loads.every(isFaithful) ? 'chosen' : 'its replay does not repeat its requests'}`);
  }
  return chosen.length < PAGES
    ? `${chosen.length} of ${PAGES} pages in ${recordings} can be replayed`
    : chosen;
}

/**
 * Files in `index.csv` of pages within the bounds, in its order.
 *
 * @throws UserError for an index without the columns
 */
export function pagesInIndex(csv: string): string[] {
  const [header = [], ...rows] = csv
    .trim()
    .split(/\r?\n/)
    .map((line) => line.split(','));
  const [file, entries, bytes] = ['file', 'entries', 'total_bytes'].map((name) => {
    const column = header.indexOf(name);
    if (column < 0) throw new UserError(`index.csv: expected a column ${name}`, 2);
    return column;
  });
  return rows.flatMap((row) => {
    const requests = Number(row[entries!]);
    const isWithin = requests >= REQUESTS.min && requests <= REQUESTS.max && Number(row[bytes!]) <= MAX_BYTES;
    return isWithin ? [row[file!]!] : [];
  });
}

const pageName = (file: string): string => file.replace(/\.har$/, '');

async function openRecordedPage(path: string, source: string): Promise<MatrixPage> {
  const page = await openPage(`${path}.gz`);
  return { ...page, facts: await factsOf(page, source) };
}
