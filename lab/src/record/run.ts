import { printable } from '@hopwise/contract/terminal';
import { chromiumPath, requireDisplay } from '../browser/chromium.ts';
import { readCa } from '../browser/local-ca.ts';
import { labObstacle } from '../client/lab.ts';
import type { Progress } from '../command/progress.ts';
import { protocolArgs } from '../loads/protocol-args.ts';
import { checkReplay, isFaithful, offeredByAll, type ReplayCheck } from '../replay/check-replay.ts';
import type { RecordCommand } from './options.ts';
import { record } from './record.ts';
import type { RecordedPage } from './recorded-page.ts';

/** Characters of a line with text of a page. */
const MAX_LINE = 300;

export interface RecordRun {
  page: RecordedPage;
  out: string;
  checks: ReplayCheck[];
  /** Why the check was impossible; null when it ran or was not requested. */
  unchecked: string | null;
}

/** Maximum time that a check continues after the load event, for late requests. */
const MAX_LINGER_MS = 5000;

/**
 * Records the page and loads it back from the lab.
 *
 * @throws UserError with one line for an error that the user can fix
 */
export async function runRecord(
  command: RecordCommand,
  { progress, signal }: { progress: Progress; signal: AbortSignal },
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
  const unchecked = command.check.length === 0 ? null : await labObstacle();
  if (command.check.length === 0 || unchecked !== null)
    return { page, out: command.out, checks: [], unchecked };
  const protocols = offeredByAll(page.site, command.check);
  for (const protocol of command.check) {
    if (protocols.includes(protocol)) continue;
    progress.step(`not checked under ${protocol}: not every origin offers it`);
  }
  const checks = await checkReplay({
    dir: command.out,
    site: page.site,
    protocols,
    timeoutMs: command.timeoutMs,
    lingerMs: Math.min(command.waitMs, MAX_LINGER_MS),
    executablePath,
    onLoad: (protocol) => progress.step(`checking: one load from the lab under ${protocol}`),
    signal,
  });
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
          `--ignore-certificate-errors-spki-list=${(await readCa(ca)).spki}`,
        ]),
  ];
}

const MAX_LISTED = 10;

/** Text for a terminal, one line for each entry. */
export function renderRecord({ page, out, checks, unchecked }: RecordRun): string {
  const recorded = sum(page.requests.map(({ recordedBytes }) => recordedBytes));
  const replayed = sum(page.requests.map(({ replayedBytes }) => replayedBytes));
  const lines = [
    `${out}: ${page.requests.length} requests recorded, ${page.site.resources.length} resources on ${page.site.origins.length} origins; ` +
      `bodies ${recorded} bytes on the wire, ${replayed} as replayed`,
    ...page.notes.map((note) => `  note: ${note}`),
  ];
  for (const check of checks) {
    const { protocol, again, expected, similar, misses, missing, extra, failure, pltMs } = check;
    const load = failure ?? `load event at ${Math.round(pltMs ?? 0)} ms`;
    lines.push(
      `${protocol}: ${again} of ${expected} resources requested again, ${similar.length} URLs answered by a similar one, ` +
        `${misses.length} missing; ${load}${isFaithful(check) ? '' : ': not as recorded'}`,
      ...listed(missing.map((key) => `  not requested again: ${key}`)),
      ...listed(misses.map(({ method, url, count }) => `  missing: ${method} ${url} (${count}×)`)),
      ...listed(extra.map((url) => `  not recorded and not answered: ${url}`)),
    );
  }
  if (unchecked !== null) lines.push(`not checked in the lab: ${unchecked}`);
  return `${lines.map((line) => printable(line, MAX_LINE)).join('\n')}\n`;
}

function listed(lines: string[]): string[] {
  return lines.length <= MAX_LISTED
    ? lines
    : [...lines.slice(0, MAX_LISTED), `  and ${lines.length - MAX_LISTED} more`];
}

const sum = (values: (number | null)[]): number => values.reduce<number>((all, one) => all + (one ?? 0), 0);
