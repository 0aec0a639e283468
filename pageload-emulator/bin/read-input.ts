import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { readingProblem, unpackingProblem } from '@hopwise/contract/command-line';
import { printable } from '@hopwise/contract/terminal';
import {
  InputError,
  type ReadOptions,
  type ReadRecording,
  RecordingBytes,
  readRecording,
} from '@hopwise/pageload-emulator';
import { note } from './output.ts';

/**
 * Reads a recording and writes its notes to standard error.
 *
 * @param file `-` for standard input
 * @throws InputError whose message names the file
 */
export async function readNamed(file: string, options: ReadOptions = {}): Promise<ReadRecording> {
  try {
    const read = await readInput(file, options);
    for (const each of read.notes) note(`${shownName(file)}: ${printable(each, 200)}`);
    return read;
  } catch (error) {
    if (error instanceof InputError) throw new InputError(`${shownName(file)}: ${error.message}`);
    throw error;
  }
}

/** A file's name for messages. */
export function shownName(file: string): string {
  if (file === '') return '""';
  return file === '-' ? 'standard input' : printable(file, 200);
}

/**
 * Reads a recording from a file, or from standard input for `-`: plain, gzipped, in a zip file, in UTF-8 or UTF-16. What is not read of
 * it, such as bodies, is never in memory.
 *
 * @throws InputError whose message does not name the file yet
 */
export async function readInput(file: string, options: ReadOptions = {}): Promise<ReadRecording> {
  return readRecording(await readText(file), options);
}

async function readText(file: string): Promise<string> {
  const recording = new RecordingBytes();
  const source: AsyncIterable<Buffer> = file === '-' ? process.stdin : createReadStream(file);
  try {
    const { gzipped, chunks } = await withFormat(source);
    const take = async (bytes: AsyncIterable<Buffer>) => {
      for await (const chunk of bytes) recording.add(chunk);
    };
    if (gzipped) await pipeline(chunks, createGunzip({ chunkSize: CHUNK_BYTES }), take);
    else await take(chunks());
  } catch (error) {
    if (error instanceof InputError) throw error;
    const packed = unpackingProblem(error);
    if (packed !== null) throw new InputError(packed);
    if (/^[a-z][a-z+.-]*:\/\//i.test(file)) throw new InputError(NO_ADDRESS);
    throw new InputError(`expected a readable file, ${readingProblem(error)}`);
  }
  return recording.end((kept) => new TextDecoder().decode(kept));
}

const NO_ADDRESS =
  'expected a file, got an address: save the page in DevTools, Network, as HAR, and name that file';

const CHUNK_BYTES = 64 * 1024;

/** All chunks of a source, and whether they begin as gzip does (RFC 1952 section 2.3.1). */
async function withFormat(
  source: AsyncIterable<Buffer>,
): Promise<{ gzipped: boolean; chunks: () => AsyncGenerator<Buffer> }> {
  const iterator = source[Symbol.asyncIterator]();
  let first: Buffer = Buffer.alloc(0);
  while (first.length < 2) {
    const { done, value } = await iterator.next();
    if (done) break;
    first = Buffer.concat([first, value]);
  }
  return {
    gzipped: first[0] === 0x1f && first[1] === 0x8b,
    async *chunks() {
      yield first;
      yield* { [Symbol.asyncIterator]: () => iterator };
    },
  };
}
