import { emulate } from '@hopwise/pageload-emulator';
import { describe, expect, test } from 'vitest';
import { pageOf, pathOf, serverOf } from '../../../pageload-emulator/test/support/pages.ts';
import { objectsLatencyMs } from '../../src/econ/objects-latency.ts';
import { HTTP_SCENARIOS, type HttpScenario, networkOf } from '../../src/econ/scenarios.ts';

/** HTTP/1.1's time over HTTP/2's. */
function ratioOf(scenario: HttpScenario, warmConnections: number): number {
  const { objects, objectBytes } = scenario;
  const [h1, h2] = (['h1', 'h2'] as const).map((protocol) =>
    objectsLatencyMs(protocol, objects, objectBytes, networkOf(scenario), {
      warmConnections,
      trajectories: 12,
    }),
  );
  return h1! / h2!;
}

function emulatedRatioOf(scenario: HttpScenario): number {
  const { rttMs, objects, objectBytes, loss } = scenario;
  const { downBps, queueBytes } = networkOf(scenario);
  const graph = pageOf(Array.from({ length: objects }, () => ({ bytes: objectBytes })));
  const path = pathOf({ rttMs, downBps, queueBytes, loss });
  const [h1, h2] = (['h1', 'h2'] as const).map((protocol) => {
    const seeds = [1, 2, 3];
    const total = seeds.reduce(
      (sum, seed) =>
        sum +
        emulate(graph, path, [serverOf('https://a.test')], { 'https://a.test': protocol }, { seed }).pltMs,
      0,
    );
    return total / seeds.length;
  });
  return h1! / h2!;
}

describe("figure 11's sixteen scenarios", () => {
  test('are all combinations of two values of four settings', () => {
    expect(new Set(HTTP_SCENARIOS.map((scenario) => JSON.stringify(scenario))).size).toBe(16);
  });

  // The page emulator shares nothing with ECON's models but the graph: it sends packets, event by event.
  const compared = HTTP_SCENARIOS.map((scenario) => ({
    scenario,
    econ: ratioOf(scenario, 0),
    emulated: emulatedRatioOf(scenario),
  }));
  const decided = compared.filter(({ emulated }) => Math.abs(Math.log(emulated)) > Math.log(1.2));

  test('with all connections cold, go to the protocol that the page emulator gives them, where that is decided by a fifth', () => {
    expect(decided.length).toBeGreaterThanOrEqual(8);
    const apart = decided.filter(({ econ, emulated }) => econ > 1 !== emulated > 1);
    expect(apart).toEqual([]);
  });

  test('depend on the first connection: ten small objects go to HTTP/2 when it is warm, to HTTP/1.1 when all are cold', () => {
    const small = HTTP_SCENARIOS.filter(
      ({ objects, objectBytes }) => objects === 10 && objectBytes === 10_000,
    );
    expect(small).toHaveLength(4);
    for (const scenario of small) {
      expect(ratioOf(scenario, 1)).toBeGreaterThan(1.2);
      expect(ratioOf(scenario, 0)).toBeLessThan(0.85);
    }
  });

  test('with the first connection warm: many small objects to HTTP/2, many large ones with more loss to HTTP/1.1', () => {
    for (const scenario of HTTP_SCENARIOS.filter(({ objects }) => objects === 500)) {
      if (scenario.objectBytes === 10_000) expect(ratioOf(scenario, 1)).toBeGreaterThan(5);
      else if (scenario.loss === 1e-4) expect(ratioOf(scenario, 1)).toBeLessThan(0.5);
    }
  });
});
