import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { InputError, JsonBytes, type ReadRecording, readRecording } from '@hopwise/pageload-emulator';

/**
 * Reads a recording from a file, or from standard input for `-`, plain or gzipped. What is not read of it, such as
 * bodies, is never in memory.
 *
 * @throws InputError whose message does not name the file yet
 */
export async function readInput(file: string): Promise<ReadRecording> {
  return readRecording(await readText(file));
}

async function readText(file: string): Promise<string> {
  const json = new JsonBytes();
  const source: AsyncIterable<Buffer> = file === '-' ? process.stdin : createReadStream(file);
  try {
    const { gzipped, chunks } = await withFormat(source);
    const take = async (bytes: AsyncIterable<Buffer>) => {
      for await (const chunk of bytes) json.add(chunk);
    };
    if (gzipped) await pipeline(chunks, createGunzip({ chunkSize: CHUNK_BYTES }), take);
    else await take(chunks());
  } catch (error) {
    if (error instanceof InputError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    if (code?.startsWith('Z_')) throw new InputError(`top level: expected gzip data, got ${message}`);
    throw new InputError(`expected a readable file, got ${code ?? message}`);
  }
  return json.end((kept) => new TextDecoder().decode(kept));
}

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
