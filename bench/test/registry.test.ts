import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '@hopwise/lab/paths';
import { describe, expect, test } from 'vitest';
import { drawShare } from '../../scripts/suites/draw-share.ts';
import { BENCHES } from '../src/registry.mjs';

const run = promisify(execFile);

/** A help that did the work instead would take longer. */
const LIMIT_MS = 30_000;
const AT_ONCE = 3;
/** Benches asked in `npm test`. */
const SHARE = 3;

interface Answer {
  name: string;
  code: number;
  stdout: string;
  stderr: string;
}

async function ask(name: string, words: string[]): Promise<Answer> {
  const script = join(ROOT, BENCHES[name]!.script);
  try {
    const { stdout, stderr } = await run(process.execPath, [script, ...words], {
      timeout: LIMIT_MS,
      cwd: ROOT,
    });
    return { name, code: 0, stdout, stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code?: number; stdout: string; stderr: string };
    return { name, code: code ?? -1, stdout, stderr };
  }
}

/** Answers of benches, a few processes at a time. */
async function askEach(words: string[]): Promise<Answer[]> {
  const left = drawShare(Object.keys(BENCHES), SHARE, (name) => `${name} ${words.join()}`);
  const answers: Answer[] = [];
  const work = async (): Promise<void> => {
    for (let name = left.shift(); name !== undefined; name = left.shift()) {
      answers.push(await ask(name, words));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return answers;
}

describe('every bench of the registry', () => {
  test('describes itself by --help, and does nothing else', async () => {
    for (const { name, code, stdout, stderr } of await askEach(['--help'])) {
      expect({ name, code, stderr }).toEqual({ name, code: 0, stderr: '' });
      expect(stdout).toContain(`npm run bench -- ${name}`);
      expect(stdout.trim().split('\n').length).toBeGreaterThan(2);
    }
  });

  test('refuses an unknown option in one line and exits with 2', async () => {
    for (const { name, code, stdout, stderr } of await askEach(['--no-such-option'])) {
      expect({ name, code, stdout, lines: stderr.trim().split('\n') }).toEqual({
        name,
        code: 2,
        stdout: '',
        lines: [expect.stringContaining('--no-such-option')],
      });
    }
  });
});
