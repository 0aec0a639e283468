import { chmodSync, mkdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { oneLine } from './one-line.ts';
import { stateDirectory } from './paths.ts';

const MAX_LOG_BYTES = 1024 * 1024;
const FILE_MODE = 0o600;

export function logFile(): string {
  return join(stateDirectory(), 'host.log');
}

/**
 * A log of at most about 2 MiB: a full file becomes `host.log.1`. Lines are written at once, so that they survive a
 * crash. When the log cannot be written, the host goes on without it.
 *
 * Only the origin of a page may be logged.
 */
export function openLog(path: string = logFile()): (line: string) => void {
  let usable = true;
  return (line) => {
    if (!usable) return;
    try {
      mkdirSync(join(path, '..'), { recursive: true, mode: 0o700 });
      if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > MAX_LOG_BYTES)
        renameSync(path, `${path}.1`);
      const text = oneLine(line, 2000);
      writeFileSync(path, `${new Date().toISOString()} ${process.pid} ${text}\n`, {
        flag: 'a',
        mode: FILE_MODE,
      });
      chmodSync(path, FILE_MODE);
    } catch (fault) {
      usable = false;
      process.stderr.write(`hopwise-host: no log: ${(fault as Error).message}\n`);
    }
  };
}
