import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkOutputFile, makeFolder, makeOutputFolder } from '../../src/command/output-folder.ts';

let home: string;
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'output-folder-'));
});
afterAll(() => rmSync(home, { recursive: true }));

describe('the folder of a command’s results', () => {
  it('is made with those above it, and may be there already', async () => {
    const dir = join(home, 'a', 'b', 'c');
    await makeOutputFolder(dir);
    await makeOutputFolder(dir);
    expect(statSync(dir).isDirectory()).toBe(true);
  });

  it('tells which was the first that had to be made', async () => {
    expect(await makeFolder(join(home, 'new', 'below'))).toBe(join(home, 'new'));
    expect(await makeFolder(join(home, 'new', 'below'))).toBeUndefined();
  });

  it('is refused in one line below a file', async () => {
    const file = join(home, 'file');
    writeFileSync(file, '');
    await expect(makeOutputFolder(file)).rejects.toThrow(
      `--out ${file}: expected a folder that can be made, but there is a file of that name`,
    );
    await expect(makeOutputFolder(join(file, 'a'))).rejects.toThrow('expected a folder that can be made');
  });

  it.runIf(process.platform === 'linux')('is refused where the system takes no folders', async () => {
    await expect(makeOutputFolder('/proc/none/such')).rejects.toThrow('expected a folder that can be made');
  });
});

describe('a file of a command’s results', () => {
  it('may be new, or be written again', async () => {
    const file = join(home, 'table');
    await checkOutputFile('--table', file);
    writeFileSync(file, '');
    await checkOutputFile('--table', file);
  });

  it.each([
    ['', 'but it is a folder'],
    ['none/table', 'but its folder is missing'],
    ['kept/table', 'but its path leads through a file'],
  ])('is refused in one line: %j', async (name, why) => {
    writeFileSync(join(home, 'kept'), '');
    const file = join(home, name);
    await expect(checkOutputFile('--table', file)).rejects.toThrow(
      `--table ${file}: expected a file that can be written, ${why}`,
    );
  });
});
