import { networkOf, profileNamed } from '@hopwise/lab/client/networks';
import type { Decision } from '@hopwise/pageload-emulator';
import { expect, test } from 'vitest';
import { BrowserOnLink } from './browser-on-link.ts';

const PAGES = ['news', 'app', 'shop', 'npm:agency', 'web-3', 'web-5', 'web-8', 'web-12', 'web-21', 'web-40'];
const OPEN_PAGES = ['news', 'web-5', 'web-21'];
const LOADS = 5;

/** Decisions after one load each, of the extension's own recordings, whose third parties withhold protocols and phases. */
async function decisionsOn(network: string, page: string): Promise<Decision[]> {
  const link = await BrowserOnLink.open(page, networkOf(profileNamed(network)), { withholdsTimings: true });
  const decisions: Decision[] = [];
  try {
    const tab = await link.newTab();
    for (let load = 0; load < LOADS; load++) {
      const { prediction, problem } = await link.loadCold(tab);
      if (prediction === null) throw new Error(`no prediction of ${page}: ${problem}`);
      decisions.push(prediction.decision);
    }
  } finally {
    await link.close();
  }
  return decisions;
}

const policed: Decision[] = [];
const open: Decision[] = [];

test.each(PAGES)(
  '%s over a link that polices UDP',
  async (page) => {
    policed.push(...(await decisionsOn('udp-policed', page)));
  },
  300_000,
);

test.each(OPEN_PAGES)(
  '%s over links that do not',
  async (page) => {
    for (const network of ['cable', 'lte']) open.push(...(await decisionsOn(network, page)));
  },
  300_000,
);

test('pins are offered where they help, and nothing is suspected elsewhere', () => {
  const share = (of: Decision[], holds: (decision: Decision) => boolean) =>
    of.filter(holds).length / of.length;
  const isActed = ({ kind }: Decision) => kind === 'act';
  const isLeft = ({ kind }: Decision) => kind === 'leave';
  const offered = `pins offered after ${policed.filter(isActed).length} of ${policed.length} loads over a policed link, nothing suspected after ${policed.filter(isLeft).length}`;
  console.log(
    `${offered}; left as it is after ${open.filter(isLeft).length} of ${open.length} loads over open links`,
  );
  // Seen: 30 of 50, 5 of 50 and 30 of 30.
  expect(share(policed, isActed)).toBeGreaterThan(0.4);
  expect(share(policed, isLeft)).toBeLessThan(0.25);
  expect(share(open, isLeft)).toBeGreaterThan(0.9);
});
