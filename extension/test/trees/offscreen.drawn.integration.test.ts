/** The trees in the built extension, under its own policies: in Chromium in a document of its own, which is not there before. */
import { createHash } from 'node:crypto';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FEATURES } from '@hopwise/model';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { generateRows } from '../../../model/test/support/generated-rows.ts';
import type { PredictionAnswer } from '../../src/trees/prediction-messages.ts';
import { type ExtensionBrowser, launch } from '../support/browser.ts';

const GOLDEN = new URL('../../../model/golden/', import.meta.url);
const BUILT = new URL('../../dist/chromium/', import.meta.url);

let folder: string;
let browser: ExtensionBrowser;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hopwise-test-'));
  const extension = join(folder, 'extension');
  await cp(BUILT, extension, { recursive: true });
  const model = await readFile(new URL('classifier.onnx', GOLDEN));
  await writeFile(join(extension, 'transport.onnx'), model);
  const description = {
    format: 1,
    features: [...FEATURES, 'protocol'],
    sha256: createHash('sha256').update(model).digest('hex'),
    uses: { tcp: 'trees', quic: 'trees' },
  };
  await writeFile(join(extension, 'transport.json'), JSON.stringify(description));
  browser = await launch(extension);
});

afterAll(async () => {
  await browser?.close();
  await rm(folder, { recursive: true, force: true });
});

test('they answer from a document that is there only while they are asked', async () => {
  const worker = browser.context.serviceWorkers()[0]!;
  const countDocuments = () =>
    worker.evaluate(
      async () => (await chrome.runtime.getContexts({ contextTypes: ['OFFSCREEN_DOCUMENT'] })).length,
    );
  expect(await countDocuments()).toBe(0);
  const [first] = generateRows(1);
  const row = [...first!].map((value) => (Number.isNaN(value) ? null : value));
  const answer: PredictionAnswer = await worker.evaluate(
    async (question) => {
      const reasons = ['WORKERS' as chrome.offscreen.Reason];
      await chrome.offscreen.createDocument({ url: 'offscreen.html', reasons, justification: 'test' });
      return chrome.runtime.sendMessage(question);
    },
    { type: 'predict-transport', transport: first!.at(-1) === 1 ? 'quic' : 'tcp', row: row.slice(0, -1) },
  );
  const golden = await readFile(new URL('classifier-answers.bin', GOLDEN));
  if (!answer.ok) throw new Error(answer.error);
  expect(Math.abs(answer.logRatio - golden.readFloatLE(0))).toBeLessThanOrEqual(1e-6);
  await worker.evaluate(() => chrome.offscreen.closeDocument());
  expect(await countDocuments()).toBe(0);
});
