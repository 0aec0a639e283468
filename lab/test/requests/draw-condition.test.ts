import { describe, expect, it } from 'vitest';
import { SPLITS } from '../../src/gauntlet/splits.ts';
import { expectedMs } from '../../src/matrix/measure-plan.ts';
import { conditionSite } from '../../src/requests/condition-site.ts';
import { CHANGES, type Condition, drawCondition, ORIGIN } from '../../src/requests/draw-condition.ts';
import { siteJson } from '../../src/sites/write-site.ts';

const CONDITIONS = SPLITS.flatMap((split) =>
  Array.from({ length: 60 }, (_, number) => drawCondition(split, 1, number)),
);

const networksOf = ({ before, after }: Condition) => [before, ...after.map(({ network }) => network)];

describe('drawCondition', () => {
  it('draws the same conditions again, and others for another seed', () => {
    expect(drawCondition('train', 1, 7)).toEqual(CONDITIONS[7]);
    expect(drawCondition('train', 2, 7).before).not.toEqual(CONDITIONS[7]!.before);
  });

  it('gives each split every kind of change', () => {
    for (const split of SPLITS) {
      const own = CONDITIONS.filter((condition) => condition.split === split);
      expect(new Set(own.map(({ change }) => change))).toEqual(new Set(CHANGES));
    }
  });

  it('has QUIC possible at the beginning, and sessions that end in time', () => {
    for (const condition of CONDITIONS) {
      expect(condition.before.udp).not.toBe('blocked');
      const sizes = new Map(condition.resources.map(({ path, bytes }) => [path, bytes]));
      const bytes = condition.requests.reduce((sum, { path }) => sum + sizes.get(path)!, 0);
      for (const network of networksOf(condition)) {
        expect(expectedMs({ protocol: 'h2', view: 'cold' }, bytes, network)).toBeLessThanOrEqual(6000);
      }
    }
  });

  it('changes in mid-session, and the network stays the last one', () => {
    for (const { change, after, changesBefore, requests } of CONDITIONS) {
      if (change === 'none') {
        expect([after, changesBefore]).toEqual([[], null]);
        continue;
      }
      expect(after.map(({ forMs }) => forMs === null)).toEqual(
        change === 'handover' ? [false, true] : [true],
      );
      expect(changesBefore).toBeGreaterThanOrEqual(18);
      expect(requests.length - changesBefore!).toBeGreaterThanOrEqual(18);
    }
  });

  it('hinders only UDP where only UDP is to be hindered', () => {
    for (const { change, before, after } of CONDITIONS) {
      if (!change.startsWith('udp-')) continue;
      const { udp: udpBefore, udpLoss: lossBefore = 0, ...rest } = before;
      const { udp: udpAfter, udpLoss: lossAfter = 0, ...restAfter } = after[0]!.network;
      expect(rest).toEqual(restAfter);
      const isOpen = [udpBefore === 'open' && lossBefore === 0, udpAfter === 'open' && lossAfter === 0];
      expect(isOpen).toEqual(change === 'udp-freed' ? [false, true] : [true, false]);
      expect(udpAfter === 'blocked').toBe(change === 'udp-blocked');
    }
  });

  it('has each request wait for the one of its visit that asks for it', () => {
    for (const { requests, resources } of CONDITIONS) {
      for (const [index, { path, after }] of requests.entries()) {
        expect(resources[index % resources.length]!.path).toBe(path);
        expect(after === null).toBe(index % resources.length === 0);
        if (after === null) continue;
        expect(after).toBeLessThan(index);
        expect(Math.floor(after / resources.length)).toBe(Math.floor(index / resources.length));
      }
    }
  });
});

describe('conditionSite', () => {
  it('serves all requests from one origin, with its server as drawn', () => {
    const condition = CONDITIONS[0]!;
    const { site, files } = conditionSite(condition, 'go');
    expect(() => siteJson(site)).not.toThrow();
    expect(site.origins).toEqual([{ ...condition.server, origin: ORIGIN }]);
    expect(new Set(site.resources.map(({ path }) => path)).size).toBe(condition.resources.length);
    expect(files.size).toBe(0);
    const ignoring = { ...condition, server: { ...condition.server, priorities: 'ignored' as const } };
    expect(conditionSite(ignoring, 'nginx-quiche').site.origins[0]?.priorities).toBe('honoured');
  });
});
