import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Who else may read a file or enter a folder. */
const MODES = { private: { file: 0o600, folder: 0o700 }, public: { file: 0o666, folder: 0o777 } };

/**
 * Writes a file so that it has its former or its new text whatever happens, and creates its folder.
 *
 * @throws the error of `node:fs`
 */
export function replaceFile(path: string, text: string, access: keyof typeof MODES): void {
  mkdirSync(dirname(path), { recursive: true, mode: MODES[access].folder });
  const draft = `${path}.${process.pid}.new`;
  try {
    const file = openSync(draft, 'w', MODES[access].file);
    try {
      writeFileSync(file, text);
      // Otherwise a crash of the machine could replace the former file by an empty one.
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, path);
  } catch (fault) {
    rmSync(draft, { force: true });
    throw fault;
  }
}
