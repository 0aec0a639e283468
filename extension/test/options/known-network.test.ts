import { Window } from 'happy-dom';
import { beforeEach, expect, test, vi } from 'vitest';
import { renderKnownNetwork } from '../../src/options/known-network.ts';
import { NOTHING_KNOWN, saveNetworkMemory } from '../../src/storage/network.ts';
import { knownWithUdp, saveKnownNetwork } from '../support/known-network.ts';
import { StubbedStorage } from '../support/stubbed-storage.ts';
import '../support/own-database.ts';

beforeEach(() => {
  vi.stubGlobal('document', new Window().document);
  vi.stubGlobal('chrome', { history: {}, storage: { session: new StubbedStorage() } });
});

async function shownUdp(): Promise<string | undefined> {
  const terms = [...(await renderKnownNetwork()).querySelectorAll('dt')];
  return terms.find(({ textContent }) => textContent === 'UDP')?.nextElementSibling?.textContent;
}

test.each([
  ['open', { open: 1 }, 'open'],
  ['limited', { policed: 1 }, 'limited'],
  ['blocked', { blocked: 1 }, 'blocked'],
  [
    'open as on most networks, which no load has shown',
    { open: 0.9, policed: 0.06, blocked: 0.04 },
    'unknown',
  ],
])('says of UDP what loads have shown: %s', async (_what, udp, said) => {
  await saveKnownNetwork(knownWithUdp(udp).cluster);
  expect(await shownUdp()).toBe(said);
});

test('does not call UDP open where one site’s HTTP/3 is held back, which the network may do', async () => {
  const { cluster } = knownWithUdp({ policed: 1 });
  await saveNetworkMemory({
    ...NOTHING_KNOWN,
    sites: { 'one.test': { ...cluster, updatedAtMs: Date.now() } },
  });
  expect(await shownUdp()).toBe('unknown');
});
