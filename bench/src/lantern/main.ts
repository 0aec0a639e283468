/** The second half of `npm run bench`: hopwise beside Lantern on recorded pages. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { firstLine, median, quantile } from '@hopwise/contract';
import { readingProblem } from '@hopwise/contract/command-line';
import { table } from '@hopwise/contract/terminal';
import { UserError } from '@hopwise/lab/command/errors';
import { runProgram } from '@hopwise/lab/command/program';
import { Progress } from '@hopwise/lab/command/progress';
import { ROOT } from '@hopwise/lab/paths';
import { parseRecording, type Recording } from '@hopwise/pageload-emulator';
import { readCells } from '../accuracy/cells.ts';
import { GOLDEN_DIR } from '../accuracy/options.ts';
import { besideLantern, type LanternTimes, ratioOf } from './beside-lantern.ts';
import { parseOptions } from './options.ts';

const TARGET_RATIO = 20;
/** Any network of the golden set will do: only the page graphs matter. */
const GOLDEN_NETWORK = 'cable';

await runProgram(async ({ signal }) => {
  const options = parseOptions(process.argv.slice(2));
  const progress = new Progress();
  const compared: LanternTimes[] = [];
  for await (const { page, recording } of recordingsOf(options.recordings)) {
    await nextTurn();
    signal.throwIfAborted();
    progress.detail(page);
    compared.push(besideLantern(page, recording));
  }
  process.stdout.write(
    options.json
      ? `${JSON.stringify(compared, null, 1)}\n`
      : render(compared, options.recordings !== undefined),
  );
});

interface RecordedPage {
  page: string;
  recording: Recording;
}

/** The HAR files in `dir`, or a recording of each page of the golden set. */
async function* recordingsOf(dir: string | undefined): AsyncGenerator<RecordedPage> {
  if (dir === undefined) {
    const { cells } = await readCells(join(ROOT, GOLDEN_DIR), { networks: [GOLDEN_NETWORK] });
    for (const { page, recorded } of cells) yield { page, recording: recorded[0]!.recording };
    return;
  }
  for (const name of await recordingNames(dir)) {
    yield { page: name.replace(/\.har(\.gz)?$/, ''), recording: await read(join(dir, name)) };
  }
}

async function recordingNames(dir: string): Promise<string[]> {
  const names = await readdir(dir).catch((error) => {
    throw new UserError(`--recordings ${dir}: expected a folder, ${readingProblem(error)}`, 2);
  });
  const recordings = names.filter((name) => /\.har(\.gz)?$/.test(name)).sort();
  if (recordings.length === 0) throw new UserError(`--recordings ${dir}: no .har or .har.gz file in it`, 2);
  return recordings;
}

async function read(file: string): Promise<Recording> {
  const bytes = await readFile(file);
  const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString();
  try {
    return parseRecording(text);
  } catch (error) {
    throw new UserError(`${file}: ${firstLine(error)}`, 2);
  }
}

/** @param judged whether the ratio is compared with its target, which is set for recordings of public sites */
function render(compared: readonly LanternTimes[], judged: boolean): string {
  const rows = [['Page', 'requests', 'origins', 'hopwise', '', 'Lantern', '', 'times as fast']];
  for (const each of compared) {
    const { page, requests, origins, hopwise, lantern } = each;
    rows.push([
      page,
      `${requests}`,
      `${origins}`,
      ...timeCells(hopwise, 3),
      ...timeCells(lantern, 1),
      ratioOf(each).toFixed(0),
    ]);
  }
  const ratios = compared.map(ratioOf);
  const middle = median(ratios);
  const verdict = middle >= TARGET_RATIO ? 'met   ' : 'MISSED';
  const least = Math.min(...ratios);
  return [
    'One load under one protocol beside Lantern, processor time in milliseconds: median (10th to 90th percentile)',
    table(rows, { numbers: true }),
    `hopwise is ${middle.toFixed(0)} times as fast at the median, ${least.toFixed(1)} to ${Math.max(...ratios).toFixed(0)} times`,
    ...(judged ? [`  ${verdict} ${TARGET_RATIO} times at the median`] : []),
    `  ${least > 1 ? 'met   ' : 'MISSED'} faster on every recording`,
    '',
  ].join('\n');
}

function timeCells(times: readonly number[], digits: number): [string, string] {
  const at = (share: number) => quantile(times, share).toFixed(digits);
  return [at(0.5), `(${at(0.1)} to ${at(0.9)})`];
}
