import { constants } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';

const CHUNK_BYTES = 256 * 1024;
/** A pipe in the log's place is not waited for: nothing may keep the agent from taking its routes back. */
const READ = constants.O_RDONLY | constants.O_NONBLOCK;
/** The agent's own lines are shorter: of longer ones the beginning is enough to see that they are none. */
const MAX_LINE_BYTES = 4096;

/**
 * Reads what is added to a log file, also after it has been rotated (the name belongs to another file) or truncated. A file that is missing
 * for a time, as between the two steps of a rotation, is waited for, and so is one in whose place there is no file.
 */
export class LogTail {
  readonly #path: string;
  readonly #buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  #file: FileHandle;
  #position: number;
  /** Beginning of a line whose end is not written yet. */
  #rest = '';

  private constructor(path: string, file: FileHandle, position: number) {
    this.#path = path;
    this.#file = file;
    this.#position = position;
  }

  /** Opens a log whose lines so far are not read, unless all are wanted. @throws of the file system */
  static async open(path: string, from: 'end' | 'start' = 'end'): Promise<LogTail> {
    const file = await open(path, READ);
    const found = await file.stat();
    if (!found.isDirectory()) return new LogTail(path, file, from === 'end' ? found.size : 0);
    await file.close();
    throw Object.assign(new Error(`${path} is a folder`), { code: 'EISDIR' });
  }

  /** Hands over the lines that were added since the last call, of one that is far too long its beginning. */
  async readNew(onLine: (line: string) => void): Promise<void> {
    await this.#readOn(onLine);
    const [named, read] = [await stat(this.#path).catch(nullIfMissing), await this.#file.stat()];
    if (named === null || named.ino === read.ino) return;
    // It may have been rotated once more.
    const next = await open(this.#path, READ).catch(nullIfMissing);
    if (next === null) return;
    if (!(await next.stat()).isFile()) return next.close();
    // What was written between the last read and the rotation.
    await this.#readOn(onLine);
    await this.close();
    this.#file = next;
    this.#startOver();
    await this.#readOn(onLine);
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  #startOver(): void {
    this.#position = 0;
    this.#rest = '';
  }

  async #readOn(onLine: (line: string) => void): Promise<void> {
    if ((await this.#file.stat()).size < this.#position) this.#startOver();
    for (;;) {
      const { bytesRead } = await this.#file.read(this.#buffer, 0, CHUNK_BYTES, this.#position);
      if (bytesRead === 0) return;
      this.#position += bytesRead;
      // The agent's own lines are ASCII.
      const lines = `${this.#rest}${this.#buffer.toString('latin1', 0, bytesRead)}`.split('\n');
      this.#rest = lines.pop()!.slice(0, MAX_LINE_BYTES);
      for (const line of lines) onLine(line);
    }
  }
}

function nullIfMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}
