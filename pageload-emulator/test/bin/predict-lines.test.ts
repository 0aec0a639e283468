import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { EmulationError, InputError } from '@hopwise/pageload-emulator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answerLines, type LineQuestion } from '../../bin/predict-lines.ts';
import { chromiumHar } from '../support/hars.ts';
import { buildHopwise, hopwise, spawnHopwise } from '../support/hopwise.ts';

async function answer(lines: string[], ask: (question: LineQuestion) => Promise<object>) {
  const answers = [];
  for await (const line of answerLines(Readable.from(lines.map((line) => `${line}\n`)), ask)) {
    answers.push(JSON.parse(line));
  }
  return answers;
}

const failWith = (error: Error) => () => Promise.reject(error);

describe('answers to lines', () => {
  it('repeat the id, in order, and skip empty lines', async () => {
    const lines = ['{"id": "a", "path": "1.har"}', '', '{"id": "b", "path": "2.har", "advise": true}'];
    expect(await answer(lines, async ({ path, advise }) => ({ path, advise }))).toEqual([
      { id: 'a', path: '1.har', advise: false },
      { id: 'b', path: '2.har', advise: true },
    ]);
  });

  it.each([
    ['no JSON', '{'],
    ['no object', '[]'],
    ['no id', '{"path": "a.har"}'],
    ['an unknown key', '{"id": "a", "path": "a.har", "rtt": 60}'],
    ['standard input as the file', '{"id": "a", "path": "-"}'],
  ])('name a line with %s, and go on', async (_, line) => {
    const [refused, next] = await answer([line, '{"id": "b", "path": "b.har"}'], async () => ({ ok: true }));
    expect(refused).toEqual({ id: null, error: expect.stringMatching(/^line 1: expected \{"id"/) });
    expect(next).toEqual({ id: 'b', ok: true });
  });

  it.each([
    [new InputError('log.entries: expected an array'), 'log.entries: expected an array'],
    [new EmulationError('the page never loads'), 'the page never loads'],
    [new TypeError('x is null'), expect.stringMatching(/^defect of hopwise: x is null at .*predict-lines/)],
  ])('have the error %s of a recording', async (error, expected) => {
    expect(await answer(['{"id": "a", "path": "a.har"}'], failWith(error))).toEqual([
      { id: 'a', error: expected },
    ]);
  });
});

describe('hopwise predict --jsonl', () => {
  let dir = '';
  beforeAll(() => {
    buildHopwise();
    dir = mkdtempSync(join(tmpdir(), 'hopwise-lines-'));
    writeFileSync(join(dir, 'page.har.gz'), gzipSync(JSON.stringify(chromiumHar())));
    writeFileSync(join(dir, 'cut.har'), '{"log": {');
  }, 120_000);
  afterAll(() => rmSync(dir, { recursive: true }));

  const ask = (name: string, advise = false) =>
    `${JSON.stringify({ id: name, path: join(dir, name), advise })}\n`;

  it('answers as hopwise predict and hopwise advise do, and says why it cannot', async () => {
    const input = ask('page.har.gz', true) + ask('cut.har') + ask('none.har') + ask('page.har.gz');
    const { status, stdout, stderr } = spawnHopwise(['predict', '--jsonl', '--rtt', '60'], input);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const [first, cut, none, again] = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const alone = JSON.parse(
      (await hopwise(['predict', join(dir, 'page.har.gz'), '--rtt', '60', '--json'])).stdout,
    );
    expect(first.prediction).toEqual({ ...alone, elapsedMs: expect.any(Number) });
    expect(first.advice.owned).toEqual(['https://shop.test']);
    expect(again).toEqual({ id: 'page.har.gz', prediction: expect.objectContaining({ best: alone.best }) });
    expect(cut).toEqual({ id: 'cut.har', error: expect.stringContaining('JSON') });
    expect(none).toEqual({ id: 'none.har', error: 'expected a readable file, but there is none' });
  });

  it.each([
    ['a file as an argument', ['page.har', '--jsonl'], /takes files from standard input/],
    ['the learned network', ['--jsonl', '--cluster', 'c.json'], /--jsonl does not go with --cluster/],
    ['no file at all', [], /missing required argument 'file'/],
  ])('refuses %s', async (_, flags, line) => {
    const { status, stderr } = await hopwise(['predict', ...flags]);
    expect(stderr).toMatch(line);
    expect(status).toBe(2);
  });
});
