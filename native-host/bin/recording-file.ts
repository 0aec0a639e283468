/** Recordings that a person names on the command line. */
import { readFile } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { firstLine } from '@hopwise/contract';
import { readingProblem, unpackingProblem } from '@hopwise/contract/command-line';
import type { Recording } from '@hopwise/pageload-emulator';
import { UsageError } from '../src/base/errors.ts';

/** Reads a HAR, or a hopwise recording, that may be compressed. @throws UsageError with the file's name and what is wrong */
export async function readRecording(file: string): Promise<Recording> {
  const { parseRecording, RecordingBytes } = await import('@hopwise/pageload-emulator');
  const bytes = await readFile(file).catch((fault) => {
    throw new UsageError(`${file}: expected a readable file, ${readingProblem(fault)}`);
  });
  try {
    const packed = new RecordingBytes();
    const isGzipped = bytes[0] === 0x1f && bytes[1] === 0x8b;
    // Piece by piece: a file of three megabytes can hold as many gigabytes, and ends with the limits of what is kept.
    if (isGzipped)
      await pipeline([bytes], createGunzip(), async (unpacked: AsyncIterable<Buffer>) => {
        for await (const piece of unpacked) packed.add(piece);
      });
    else packed.add(bytes);
    return parseRecording(packed.end((kept) => new TextDecoder().decode(kept)));
  } catch (fault) {
    throw new UsageError(`${file}: ${unpackingProblem(fault) ?? firstLine(fault)}`);
  }
}
