/** ONNX Runtime Web, as it is packaged, answers in real browsers as XGBoost does in Python, and fast. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { chromium } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { drawShare } from '../../../scripts/suites/draw-share.ts';
import { FirefoxBrowser, firefoxPath, makeProfile } from '../firefox/firefox.ts';
import type { Golden, PredictionRun } from './predict-rows.ts';

const golden = (name: string) =>
  readFileSync(new URL(`../../../model/golden/${name}`, import.meta.url)).toString('base64');
const RUNTIME = new URL('../../dist/chromium/ort-wasm-simd-threaded.wasm.gz', import.meta.url);
const GOLDEN: Golden = {
  model: golden('classifier.onnx'),
  answers: golden('classifier-answers.bin'),
  runtime: readFileSync(RUNTIME).toString('base64'),
};
const ROWS = 10_000;
const MAX_DIFFERENCE = 1e-6;
/** 0.1 ms on a quiet machine; other tests run beside this one. */
const MAX_MS_PER_DECISION = 0.5;

/** A function that a browser can run from its text alone. */
let predictRows: (golden: Golden) => Promise<PredictionRun>;

beforeAll(async () => {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('predict-rows.ts', import.meta.url))],
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'trees',
    platform: 'browser',
    conditions: ['source'],
    target: ['chrome120', 'firefox142'],
  });
  const body = `${outputFiles[0]!.text}; return trees.predictRows(golden);`;
  predictRows = new Function('golden', body) as typeof predictRows;
});

function check(browser: string, { rows, maxDifference, sessionMs, msPerDecision }: PredictionRun): void {
  console.log(
    `${browser}: ${rows} rows, off by at most ${maxDifference}, ${msPerDecision.toFixed(4)} ms a decision, session ${Math.round(sessionMs)} ms`,
  );
  expect(rows).toBe(ROWS);
  expect(maxDifference).toBeLessThanOrEqual(MAX_DIFFERENCE);
  expect(msPerDecision).toBeLessThanOrEqual(MAX_MS_PER_DECISION);
}

async function predictInChromium(): Promise<void> {
  const browser = await chromium.launch({
    executablePath: process.env.HOPWISE_CHROMIUM ?? '/usr/bin/chromium',
  });
  try {
    const page = await browser.newPage();
    check('Chromium', await page.evaluate(predictRows, GOLDEN));
  } finally {
    await browser.close();
  }
}

async function predictInFirefox(): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'hopwise-test-'));
  try {
    makeProfile(home, { trusted: [] });
    const browser = await FirefoxBrowser.launch(null, home, {});
    try {
      const page = await browser.open('about:blank');
      check('Firefox', await page.evaluate(predictRows, GOLDEN));
    } finally {
      await browser.close();
    }
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

const BROWSERS = [
  { name: 'Chromium', predict: predictInChromium },
  { name: 'Firefox', predict: predictInFirefox },
].filter(({ name }) => firefoxPath() || name !== 'Firefox');

test.each(drawShare(BROWSERS, 1, ({ name }) => `predict ${name}`))('in $name', ({ predict }) => predict());
