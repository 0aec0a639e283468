import { createHash, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Lab, labObstacle } from '../lab/lab.ts';
import { chromiumPath, requireDisplay } from '../start/chromium.ts';
import type { Cleanup } from '../start/cleanup.ts';
import { firstLine, UserError } from '../start/errors.ts';
import type { Progress } from '../start/progress.ts';
import { protocolArgs } from '../truth/loads.ts';
import type { RecordCommand } from './options.ts';
import { record } from './record.ts';
import type { RecordedPage } from './recorded-page.ts';
import { CHECK_NETWORK, checkReplay, type ReplayCheck } from './replay-check.ts';

export interface RecordRun {
  page: RecordedPage;
  out: string;
  checks: ReplayCheck[];
  /** Why there was no check; null when there was one or none was wanted. */
  unchecked: string | null;
}

/** What a check goes on for after the load event at most: late requests come in the lab as they did before. */
const MAX_CHECK_WAIT_MS = 5000;

/**
 * Records the page and loads it back from the lab.
 *
 * @throws UserError with one line for whatever a person can mend
 */
export async function runRecord(
  command: RecordCommand,
  { cleanup, progress, signal }: { cleanup: Cleanup; progress: Progress; signal: AbortSignal },
): Promise<RecordRun> {
  if (command.headed) requireDisplay();
  const executablePath = chromiumPath();
  progress.step(`recording: ${command.url}`);
  const page = await record({
    ...command,
    executablePath,
    args: await switches(command),
    onProgress: (text) => progress.detail(text),
    signal,
  });
  progress.step(
    `recorded: ${page.site.resources.length} resources on ${page.site.origins.length} origins in ${command.out}`,
  );
  if (command.check.length === 0) return { page, out: command.out, checks: [], unchecked: null };
  const obstacle = await labObstacle();
  if (obstacle !== null) return { page, out: command.out, checks: [], unchecked: obstacle };
  const lab = await Lab.up({ site: command.out, network: CHECK_NETWORK, signal });
  cleanup.add('the lab', () => lab.down());
  const inside = await lab.wrapper(executablePath);
  const checks: ReplayCheck[] = [];
  for (const protocol of command.check) {
    if (!page.site.origins.every((origin) => origin.protocols.includes(protocol))) {
      progress.step(`not checked under ${protocol}: not every origin offers it`);
      continue;
    }
    progress.step(`checking: one load from the lab under ${protocol}`);
    const { timeoutMs } = command;
    const waitMs = Math.min(command.waitMs, MAX_CHECK_WAIT_MS);
    checks.push(
      await checkReplay({
        lab,
        site: page.site,
        executablePath: inside,
        protocol,
        timeoutMs,
        waitMs,
        signal,
      }),
    );
  }
  await lab.down();
  return { page, out: command.out, checks, unchecked: null };
}

async function switches({ ca, map, url }: RecordCommand): Promise<string[]> {
  const rules = map.map(({ host, to }) => `MAP ${host} ${to}`).join(',');
  return [
    ...(rules === '' ? [] : [`--host-resolver-rules=${rules}`]),
    ...(ca === null
      ? []
      : [
          ...protocolArgs('natural', [new URL(url).host]),
          `--ignore-certificate-errors-spki-list=${await keyHash(ca)}`,
        ]),
  ];
}

/** Base64 SHA-256 of a CA's public key, by which Chromium knows it. */
async function keyHash(path: string): Promise<string> {
  try {
    const key = new X509Certificate(await readFile(path)).publicKey.export({ type: 'spki', format: 'der' });
    return createHash('sha256').update(key).digest('base64');
  } catch (error) {
    throw new UserError(`--ca ${path}: expected a certificate as PEM: ${firstLine(error)}`, 2);
  }
}

const MAX_LISTED = 10;

/** For a terminal, a line an entry. */
export function renderRecord({ page, out, checks, unchecked }: RecordRun): string {
  const recorded = sum(page.requests.map(({ recordedBytes }) => recordedBytes));
  const replayed = sum(page.requests.map(({ replayedBytes }) => replayedBytes));
  const lines = [
    `${out}: ${page.requests.length} requests recorded, ${page.site.resources.length} resources on ${page.site.origins.length} origins; ` +
      `bodies ${recorded} bytes on the wire, ${replayed} as replayed`,
    ...page.notes.map((note) => `  note: ${note}`),
  ];
  for (const { protocol, again, resources, similar, misses, failure, pltMs, notAgain } of checks) {
    const load = failure ?? `load event at ${pltMs === null ? 'no time' : `${Math.round(pltMs)} ms`}`;
    lines.push(
      `${protocol}: ${again} of ${resources} resources requested again, ${similar} requests answered by a similar URL, ` +
        `${misses.length} missing; ${load}`,
      ...listed(notAgain.map((key) => `  not requested again: ${key}`)),
      ...listed(misses.map(({ method, url, count }) => `  missing: ${method} ${url} (${count}×)`)),
    );
  }
  if (unchecked !== null) lines.push(`not checked in the lab: ${unchecked}`);
  return `${lines.map((line) => printable(line)).join('\n')}\n`;
}

function listed(lines: string[]): string[] {
  return lines.length <= MAX_LISTED
    ? lines
    : [...lines.slice(0, MAX_LISTED), `  and ${lines.length - MAX_LISTED} more`];
}

/** A page's URLs and headers reach the terminal: without control characters, and not without end. */
const printable = (line: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be printed
  line.replace(/[\u0000-\u001f\u007f-\u009f]/g, '?').slice(0, 300);

const sum = (values: (number | null)[]): number => values.reduce<number>((all, one) => all + (one ?? 0), 0);
