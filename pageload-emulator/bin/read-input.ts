import { open } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { InputError, type ReadRecording, readRecording } from '@hopwise/pageload-emulator';

const MAX_BYTES = 256 * 1024 * 1024;

/**
 * Reads a recording from a file, or from standard input for `-`, plain or gzipped.
 *
 * @throws InputError whose message does not name the file yet
 */
export async function readInput(file: string): Promise<ReadRecording> {
  const raw = file === '-' ? await readStandardInput() : await readFile(file);
  return readRecording(textOf(raw));
}

async function readFile(file: string): Promise<Buffer> {
  try {
    const handle = await open(file);
    try {
      const { size } = await handle.stat();
      if (size > MAX_BYTES) throw tooLarge(`${size} bytes`);
      return await handle.readFile();
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof InputError) throw error;
    throw new InputError(`expected a readable file, got ${(error as NodeJS.ErrnoException).code ?? error}`);
  }
}

async function readStandardInput(): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin) {
    size += (chunk as Buffer).length;
    if (size > MAX_BYTES) throw tooLarge('more');
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}

function textOf(raw: Buffer): string {
  const gzipped = raw[0] === 0x1f && raw[1] === 0x8b;
  if (!gzipped) return raw.toString('utf8');
  try {
    // The bound holds for what comes out, too: a small file can unpack to terabytes.
    return gunzipSync(raw, { maxOutputLength: MAX_BYTES }).toString('utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE')
      throw tooLarge('more once unpacked');
    throw new InputError(`top level: expected gzip data, got ${(error as Error).message}`);
  }
}

function tooLarge(got: string): InputError {
  return new InputError(`expected at most ${MAX_BYTES / 1024 / 1024} MiB, got ${got}`);
}
