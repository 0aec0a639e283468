import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '@hopwise/lab/paths';
import { expect, test } from 'vitest';
import { HelperStarts } from '../../src/helper/start-helper.ts';

test('the helper answers a question, and what it took is counted', async () => {
  const starts = await HelperStarts.open();
  try {
    const start = await starts.measure(ROOT, 'own', 'network');
    expect(start.processorMs).toBeGreaterThan(0);
    expect(start.answerMs).toBeGreaterThan(0);
  } finally {
    await starts.close();
  }
});

test('a folder without a helper is named', async () => {
  const empty = mkdtempSync(join(tmpdir(), 'hopwise-empty-'));
  const starts = await HelperStarts.open();
  try {
    await expect(starts.measure(empty, 'rival', 'network')).rejects.toThrow(
      `${empty}/native-host/dist/bin/hopwise-host.js: expected the answer network, got nothing`,
    );
  } finally {
    await starts.close();
    rmSync(empty, { recursive: true });
  }
});
