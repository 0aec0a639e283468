/** Runs the examples and checks that their README shows them unchanged. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { bestAssignment } from '../examples/assignment.ts';
import { bestFromDevTools } from '../examples/devtools.ts';
import { overLosses } from '../examples/emulate.ts';
import { recordedShare } from '../examples/graph.ts';
import { readLarge } from '../examples/large-file.ts';
import { loadTimes } from '../examples/predict.ts';
import { waterfall } from '../examples/waterfall.ts';
import { onTheTrain, withLargerWindows } from '../examples/what-if.ts';
import { chromiumHar } from './support/hars.ts';

const har = JSON.stringify(chromiumHar());

it('README shows every example unchanged', () => {
  const folder = fileURLToPath(new URL('../examples/', import.meta.url));
  const shown = [...readFileSync(join(folder, 'README.md'), 'utf8').matchAll(/```ts\n(.*?)```/gs)].map(
    ([, code]) => code,
  );
  const files = readdirSync(folder).filter((file) => file.endsWith('.ts'));
  expect(files.length).toBeGreaterThan(0);
  expect(shown.sort()).toEqual(files.map((file) => readFileSync(join(folder, file), 'utf8')).sort());
});

it('predicts from a HAR', () => {
  const lines = loadTimes(har);
  for (const [index, protocol] of ['h1', 'h2', 'h3'].entries()) {
    expect(lines[index]).toMatch(new RegExp(`^${protocol}: \\d+ ms \\(\\d+ to \\d+\\)$`));
  }
  expect(lines[3]).toMatch(/^(best: h[123]|no clear winner)$/);
});

it('asks about another network and other servers', () => {
  const prediction = onTheTrain(har);
  expect(prediction.network).toMatchObject({ rttMs: 120, downMbps: 4, loss: 0.02, udp: 'blocked' });
  expect(prediction.network.source).toMatchObject({
    rttMs: 'given',
    queueBytes: expect.not.stringMatching('given'),
  });
  expect(prediction.protocols.h3).toHaveProperty('unavailable');
  const changes = withLargerWindows(har);
  expect(Object.keys(changes).sort()).toEqual(['h1', 'h2', 'h3']);
  for (const change of Object.values(changes)) expect(Math.abs(change)).toBeLessThan(1);
});

it('shows waterfalls', () => {
  const lines = waterfall(har, 'h2');
  expect(lines[0]).toMatch(/^0 \d+ \d+ \d+ https:\/\/shop\.test\/$/);
  expect(lines).toHaveLength(5);
});

it('assigns protocols', () => {
  const lines = bestAssignment(har);
  expect(lines).toHaveLength(3);
  expect(lines[0]).toMatch(/^https:\/\/shop\.test: h[123], \d+% sure\. .+\.$/);
  expect(lines[2]).toMatch(/^\d+ ms: .+/);
});

it('looks at the graph', () => {
  const share = recordedShare(har);
  expect(share).toBeGreaterThan(0);
  expect(share).toBeLessThan(1);
});

it('emulates single loads', () => {
  const times = overLosses(har, { 'https://shop.test': 'h3', 'https://cdn.test': 'h2' });
  expect(times).toHaveLength(20);
  expect(times.at(-1)).toBeGreaterThan(times[0]!);
});

it('reads what DevTools passes', () => {
  const { log } = chromiumHar() as { log: { entries: { time: unknown }[] } };
  expect(bestFromDevTools(log)).toMatch(/^h[123]$/);
  log.entries[0]!.time = 'x';
  expect(bestFromDevTools(log.entries)).toBe('[0].time: expected a number, got "x"');
});

it('reads large files', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'hopwise-examples-'));
  const file = join(dir, 'page.har');
  writeFileSync(file, har.replaceAll('"mimeType"', `"text":"${'body '.repeat(100_000)}","mimeType"`));
  expect(await readLarge(file)).toEqual({
    requests: 6,
    notes: ['used 5 of 7 requests: 1 had no http or https URL, 1 began after the load event'],
  });
  rmSync(dir, { recursive: true });
});
