import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  countRuns,
  drawShare,
  listUndrawnFiles,
  SEED_VARIABLE,
  SHARE_VARIABLE,
} from '../../suites/draw-share.ts';

const CASES = Array.from({ length: 20 }, (_, index) => `case ${index}`);

beforeEach(() => {
  vi.stubEnv(SHARE_VARIABLE, undefined);
  vi.stubEnv(SEED_VARIABLE, 'a');
});
afterEach(() => {
  vi.unstubAllEnvs();
});

test('draws as many cases as are asked for, in their order, and the same ones again', () => {
  const drawn = drawShare(CASES, 5);
  expect(drawn).toHaveLength(5);
  expect(drawn).toEqual(CASES.filter((each) => drawn.includes(each)));
  expect(drawShare(CASES, 5)).toEqual(drawn);
  expect(drawShare(CASES, 50)).toEqual(CASES);
});

test('other seeds draw other cases, and each case has its turn', () => {
  const drawn = new Set<string>();
  for (let seed = 0; seed < 60; seed++) {
    vi.stubEnv(SEED_VARIABLE, String(seed));
    for (const each of drawShare(CASES, 5)) drawn.add(each);
  }
  expect(drawn.size).toBe(CASES.length);
});

test('the long run has all of them', () => {
  expect(countRuns(5, 20)).toBe(5);
  vi.stubEnv(SHARE_VARIABLE, 'all');
  expect(countRuns(5, 20)).toBe(20);
  expect(drawShare(CASES, 5)).toEqual(CASES);
});

test('five sixths of the drawn files are left out, none of the others, and none of the long run', () => {
  const root = mkdtempSync(join(tmpdir(), 'hopwise-drawn-'));
  try {
    const drawn = Array.from(
      { length: 12 },
      (_, index) => `lab/test/f${index}.drawn${index < 3 ? '.quiet' : ''}.integration.test.ts`,
    );
    for (const path of [...drawn, 'lab/test/whole.integration.test.ts', `node_modules/${drawn[0]}`]) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), '');
    }
    const list = () => listUndrawnFiles(root, '**/test/**/*.drawn{,.quiet}.integration.test.ts');
    const leftOut = list();
    expect(leftOut).toHaveLength(10);
    expect(drawn).toEqual(expect.arrayContaining(leftOut));
    vi.stubEnv(SEED_VARIABLE, 'b');
    expect(list()).not.toEqual(leftOut);
    vi.stubEnv(SHARE_VARIABLE, 'all');
    expect(list()).toEqual([]);
  } finally {
    rmSync(root, { recursive: true });
  }
});
