/** Structure replays of recordings in files: HARs, plain or gzipped, and hopwise's own. */
import { readFile, stat } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { readingProblem, unpackingProblem } from '@hopwise/contract/command-line';
import { InputError, parseRecording, type Recording, RecordingBytes } from '@hopwise/pageload-emulator';
import { UserError } from '../command/errors.ts';
import { type ReplayedSite, siteFromRecording } from './from-har.ts';

const MAX_HAR_BYTES = 256 * 1024 * 1024;

/** @throws UserError in one line that names the file, the place in it and what was expected there. */
export async function readRecordingFile(file: string): Promise<Recording> {
  const info = await stat(file).catch(() => null);
  if (info === null || !info.isFile())
    throw new UserError(`${file}: expected a HAR; there is no such file`, 2);
  if (info.size > MAX_HAR_BYTES)
    throw new UserError(`${file}: expected a HAR of at most 256 MiB, got ${info.size} bytes`, 2);
  let plain: Buffer;
  try {
    const bytes = await readFile(file);
    plain =
      bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes, { maxOutputLength: MAX_HAR_BYTES }) : bytes;
  } catch (error) {
    const problem =
      unpackingProblem(error, MAX_HAR_BYTES) ?? `expected a readable file, ${readingProblem(error)}`;
    throw new UserError(`${file}: ${problem}`, 2);
  }
  try {
    const json = new RecordingBytes();
    json.add(plain);
    return parseRecording(json.end((kept) => new TextDecoder().decode(kept)));
  } catch (error) {
    if (error instanceof InputError) throw new UserError(`${file}: ${error.message}`, 2);
    throw error;
  }
}

/**
 * The structure replay of a recorded page.
 *
 * @throws UserError in one line that names the file, the place in it and what was expected there.
 */
export async function replayOfFile(file: string, name: string): Promise<ReplayedSite> {
  const recording = await readRecordingFile(file);
  try {
    return siteFromRecording(recording, { name });
  } catch (error) {
    // A recording that cannot be replayed.
    if (error instanceof RangeError) throw new UserError(`${file}: ${error.message}`, 2);
    throw error;
  }
}
