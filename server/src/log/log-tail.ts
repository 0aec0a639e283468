import { type FileHandle, open, stat } from 'node:fs/promises';

const CHUNK_BYTES = 256 * 1024;
/** Longer lines are none of the agent's. */
const MAX_LINE_BYTES = 4096;
const NEWLINE = 10;

interface OpenLog {
  handle: FileHandle;
  inode: number;
  position: number;
}

/**
 * Reads what is added to a log file, also after it has been rotated (the name belongs to another file) or truncated. A file that is missing
 * for a time, as between the two steps of a rotation, is waited for.
 */
export class LogTail {
  readonly #path: string;
  readonly #buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  #log: OpenLog | null = null;
  /** Beginning of a line whose end is not written yet. */
  #rest: Buffer = Buffer.alloc(0);
  #isSkipping = false;

  private constructor(path: string) {
    this.#path = path;
  }

  /** Opens a log whose lines so far are not read, unless all are wanted. @throws of the file system */
  static async open(path: string, from: 'end' | 'start' = 'end'): Promise<LogTail> {
    const tail = new LogTail(path);
    tail.#log = await openLog(path);
    if (from === 'end') tail.#log.position = (await tail.#log.handle.stat()).size;
    return tail;
  }

  /** Hands over the lines that were added since the last call, one that is too long as an empty one. */
  async readNew(onLine: (line: string) => void): Promise<void> {
    if (this.#log !== null) await this.#readOn(this.#log, onLine);
    const now = await stat(this.#path).catch(nullIfMissing);
    if (now === null || now.ino === this.#log?.inode) return;
    // What was written between the last read and the rotation.
    if (this.#log !== null) {
      await this.#readOn(this.#log, onLine);
      await this.#log.handle.close();
    }
    this.#rest = Buffer.alloc(0);
    this.#log = await openLog(this.#path);
    await this.#readOn(this.#log, onLine);
  }

  async close(): Promise<void> {
    await this.#log?.handle.close();
    this.#log = null;
  }

  async #readOn(log: OpenLog, onLine: (line: string) => void): Promise<void> {
    const { size } = await log.handle.stat();
    if (size < log.position) {
      log.position = 0;
      this.#rest = Buffer.alloc(0);
    }
    for (;;) {
      const { bytesRead } = await log.handle.read(this.#buffer, 0, CHUNK_BYTES, log.position);
      if (bytesRead === 0) return;
      log.position += bytesRead;
      this.#split(this.#buffer.subarray(0, bytesRead), onLine);
    }
  }

  #split(bytes: Buffer, onLine: (line: string) => void): void {
    let from = 0;
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, from)) {
      const part = bytes.subarray(from, end);
      from = end + 1;
      const line = this.#rest.length === 0 ? part : Buffer.concat([this.#rest, part]);
      this.#rest = this.#rest.length === 0 ? this.#rest : Buffer.alloc(0);
      if (this.#isSkipping) this.#isSkipping = false;
      else onLine(line.length > MAX_LINE_BYTES ? '' : line.toString('utf8'));
    }
    if (this.#isSkipping) return;
    const rest = Buffer.concat([this.#rest, bytes.subarray(from)]);
    this.#isSkipping = rest.length > MAX_LINE_BYTES;
    if (this.#isSkipping) onLine('');
    this.#rest = this.#isSkipping ? Buffer.alloc(0) : rest;
  }
}

async function openLog(path: string): Promise<OpenLog> {
  const handle = await open(path, 'r');
  return { handle, inode: (await handle.stat()).ino, position: 0 };
}

function nullIfMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}
