/** `npm run bench -- wild DIR`: hopwise on recordings that others made, by whatever recorder. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { firstLine } from '@hopwise/contract';
import { readingProblem } from '@hopwise/contract/command-line';
import { UserError } from '@hopwise/lab/command/errors';
import { runProgram } from '@hopwise/lab/command/program';
import { Progress } from '@hopwise/lab/command/progress';
import { EmulationError, InputError, parseRecording, RecordingBytes } from '@hopwise/pageload-emulator';
import { type JudgedFile, judgeRecording } from './judge-file.ts';
import { parseOptions } from './options.ts';
import { type IndexedFile, parseIndex } from './parse-index.ts';
import { figuresByRecorder, renderWild } from './wild-figures.ts';

const INDEX = 'index.csv';

await runProgram(async ({ signal }) => {
  const options = parseOptions(process.argv.slice(2));
  const progress = new Progress();
  const index = await readIndex(options.dir);
  const judged: JudgedFile[] = [];
  for (const file of await recordingNames(options.dir)) {
    await nextTurn();
    signal.throwIfAborted();
    progress.detail(file);
    judged.push(judgeFile(file, await readFile(join(options.dir, file)), index.get(file)));
  }
  process.stdout.write(
    options.json
      ? `${JSON.stringify({ ...figuresByRecorder(judged), files: judged }, null, 1)}\n`
      : renderWild(judged, options.files),
  );
});

async function recordingNames(dir: string): Promise<string[]> {
  const names = await readdir(dir).catch((error) => {
    throw new UserError(`${dir}: expected a folder, ${readingProblem(error)}`, 2);
  });
  const recordings = names.filter((name) => /\.har(\.gz)?$/.test(name)).sort();
  if (recordings.length === 0) throw new UserError(`${dir}: no .har or .har.gz file in it`, 2);
  return recordings;
}

async function readIndex(dir: string): Promise<ReadonlyMap<string, IndexedFile>> {
  try {
    return parseIndex(await readFile(join(dir, INDEX), 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Map();
    throw new UserError(`${join(dir, INDEX)}: ${firstLine(error)}`, 2);
  }
}

function judgeFile(file: string, content: Buffer, indexed: IndexedFile | undefined): JudgedFile {
  const startedMs = performance.now();
  const text = textOf(content);
  const recorder = indexed?.recorder ?? creatorIn(text);
  const elapsed = () => performance.now() - startedMs;
  try {
    const judged = judgeRecording(parseRecording(text));
    return {
      file,
      recorder,
      ...judged,
      ...(indexed && { indexedMs: indexed.recordedMs }),
      elapsedMs: elapsed(),
    };
  } catch (error) {
    if (!(error instanceof InputError || error instanceof EmulationError)) throw error;
    return { file, recorder, refused: firstLine(error), recordedMs: null, elapsedMs: elapsed() };
  }
}

/** The text without what is not read of it, such as bodies. */
function textOf(content: Buffer): string {
  const json = new RecordingBytes();
  json.add(content[0] === 0x1f && content[1] === 0x8b ? gunzipSync(content) : content);
  return json.end((kept) => new TextDecoder().decode(kept));
}

/** The name and version of a HAR's creator. */
function creatorIn(text: string): string {
  const creator = /"creator"\s*:\s*\{[^}]*\}/.exec(text)?.[0] ?? '';
  const field = (name: string) => new RegExp(`"${name}"\\s*:\\s*"([^"]*)"`).exec(creator)?.[1] ?? '';
  return `${field('name')} ${field('version')}`.trim() || 'unknown';
}
