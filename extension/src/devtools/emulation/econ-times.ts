import { toPath } from '@hopwise/pageload-emulator';
import { type EconProtocol, type LossByWindow, loadByEcon } from '@hopwise/pageload-emulator/econ';
import { changedServers, type EmulatedPage, type WhatIfSettings } from './what-if.ts';

/** ECON's mean load times in milliseconds: with counted loss by window, and with the random loss of the settings instead. */
export type EconTimes = Record<'counted' | 'random', Record<EconProtocol, number>>;

/**
 * Computes ECON's load times of a page, one a step. ECON has no BBR: Cubic takes its place.
 *
 * @param loss p(cwnd), whatever the number of connections
 */
export function* econTimesInSteps(
  page: EmulatedPage,
  { network, servers }: WhatIfSettings,
  loss: LossByWindow,
): Generator<void, EconTimes> {
  const path = toPath(network);
  const changed = changedServers(page.servers, servers, path);
  const congestionControl = servers.congestionControl === 'reno' ? 'reno' : 'cubic';
  const times: EconTimes = { counted: { h1: 0, h2: 0 }, random: { h1: 0, h2: 0 } };
  for (const protocol of ['h1', 'h2'] as const) {
    const load = (senders: { loss?: () => LossByWindow }) =>
      loadByEcon(page.graph, path, changed, { ...senders, congestionControl }, protocol).pltMs;
    times.counted[protocol] = load({ loss: () => loss });
    yield;
    times.random[protocol] = load({});
    yield;
  }
  return times;
}
