import { learnNetwork, type NetworkCluster } from '@hopwise/pageload-emulator';
import { beforeEach, expect, test, vi } from 'vitest';
import { AUTOPILOT_DEFAULTS, saveAutopilotSettings } from '../../src/autopilot/autopilot-settings.ts';
import { wantsOffers } from '../../src/background/wants-offers.ts';
import { loadOf } from '../evidence/stored-loads.ts';
import { saveKnownNetwork } from '../support/known-network.ts';
import { StubbedStorage } from '../support/stubbed-storage.ts';
import '../support/own-database.ts';

const known = { ...learnNetwork(null, loadOf(1).recording), updatedAtMs: Date.now() };
const clusterOf = (udp: NetworkCluster['udp'], loads = 2) => ({ ...known, udp, loads });

beforeEach(() => {
  vi.stubGlobal('chrome', { storage: { session: new StubbedStorage() } });
});

test('offers of HTTP/3 are wanted while the autopilot does not know how the network treats UDP', async () => {
  await saveAutopilotSettings({ ...AUTOPILOT_DEFAULTS, isOn: false });
  expect(await wantsOffers(), 'without the autopilot').toBe(false);
  await saveAutopilotSettings({ ...AUTOPILOT_DEFAULTS, isOn: true });
  expect(await wantsOffers(), 'unknown').toBe(true);
  await saveKnownNetwork(clusterOf({ open: 0.9, policed: 0.1, blocked: 0 }));
  expect(await wantsOffers(), 'unsure').toBe(true);
  await saveKnownNetwork(clusterOf({ open: 0.9, policed: 0.1, blocked: 0 }, 8));
  expect(await wantsOffers(), 'unsure after many loads').toBe(false);
  await saveKnownNetwork(clusterOf({ open: 0.97, policed: 0.02, blocked: 0.01 }));
  expect(await wantsOffers(), 'open').toBe(false);
  await saveKnownNetwork(clusterOf({ open: 0.01, policed: 0.02, blocked: 0.97 }));
  expect(await wantsOffers(), 'blocked').toBe(false);
});
