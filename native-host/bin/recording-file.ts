/** Recordings that a person names on the command line. */
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { firstLine } from '@hopwise/contract';
import { readingProblem } from '@hopwise/contract/command-line';
import type { Recording } from '@hopwise/pageload-emulator';
import { UsageError } from '../src/base/errors.ts';

/** Reads a HAR, or a hopwise recording, that may be compressed. @throws UsageError with the file's name and what is wrong */
export async function readRecording(file: string): Promise<Recording> {
  const { parseRecording, RecordingBytes } = await import('@hopwise/pageload-emulator');
  let bytes: Buffer = await readFile(file).catch((fault) => {
    throw new UsageError(`${file}: expected a readable file, ${readingProblem(fault)}`);
  });
  try {
    if (bytes[0] === 0x1f && bytes[1] === 0x8b) bytes = await promisify(gunzip)(bytes);
    const packed = new RecordingBytes();
    packed.add(bytes);
    return parseRecording(packed.end((kept) => new TextDecoder().decode(kept)));
  } catch (fault) {
    throw new UsageError(`${file}: ${firstLine(fault)}`);
  }
}
