import { type NetworkPath, PROTOCOLS, type ServerChange } from '@hopwise/pageload-emulator';
import { describe, expect, it } from 'vitest';
import { serverChange } from '../../bin/options.ts';
import { askWhatIf } from '../../src/choose/what-if.ts';
import { changeInWords } from '../../src/explain/server-change-words.ts';
import { PaintModel } from '../../src/graph/paint-times.ts';
import { UniformLoads } from '../../src/scenarios/uniform.ts';
import { pageOf, pathOf, ROUND_TRIPS_ONLY, serverOf } from '../support/pages.ts';

function changeOf(bytes: number, path: NetworkPath, change: ServerChange) {
  const graph = pageOf([{ bytes }]);
  const paint = new PaintModel(
    { requests: [], pltMs: null, firstContentfulPaintMs: null, largestContentfulPaintMs: null },
    graph,
  );
  const scenarios = Array.from({ length: 8 }, (_, seed) => ({
    path,
    servers: [serverOf('https://a.test')],
    seed,
  }));
  const runs = PROTOCOLS.map((protocol) => {
    const loads = new UniformLoads(graph, paint, protocol);
    loads.add(scenarios);
    return loads.run();
  });
  return askWhatIf(graph, runs, scenarios, change);
}

describe('what if the servers', () => {
  it('began with a larger window: a round trip less', () => {
    // 30 kB are 21 packets: 10 and 11 over TCP. Handshakes and request take 300 ms, the second flight 100 more.
    const protocols = changeOf(30_000, ROUND_TRIPS_ONLY, { initialWindow: 32 });
    expect(protocols.h2!.change).toBeCloseTo(300 / 400 - 1, 3);
    // QUIC servers begin with 32 as it is.
    expect(protocols.h3!.change).toBe(0);
  });

  it('reacted less to losses', () => {
    const lossy = pathOf({ rttMs: 60, downBps: 50e6, loss: 0.02 });
    const protocols = changeOf(3e6, lossy, { congestionControl: 'bbr' });
    expect(protocols.h2!.change).toBeLessThan(-0.3);
  });

  it('knew the rate of the link', () => {
    const long = pathOf({ rttMs: 200, downBps: 20e6 });
    const right = changeOf(1e6, long, { startShare: 1 }).h2!.change;
    expect(right).toBeLessThan(-0.25);
    expect(changeOf(1e6, long, { startBps: 20e6 }).h2!.change).toBe(right);
    // With a rate ten times too high and hardly a queue, most of the first flight is lost.
    const short = { ...long, queueBytes: 15_000 };
    expect(changeOf(1e6, short, { startShare: 10 }).h2!.change).toBeGreaterThan(
      changeOf(1e6, short, { startShare: 1 }).h2!.change,
    );
  });

  it('did not change: nothing', () => {
    const protocols = changeOf(1e6, pathOf({ loss: 0.01 }), {});
    expect(changeInWords({})).toBe('the present servers');
    expect(Object.values(protocols).map((time) => time.change)).toEqual([0, 0, 0]);
  });
});

describe('the flag', () => {
  it.each([
    ['iw=32', { initialWindow: 32 }, 'an initial window of 32 packets'],
    ['cc=hybla', { congestionControl: 'hybla' }, 'Hybla'],
    ['start=20mbit', { startBps: 20e6 }, 'a start at 20 Mbit/s'],
    ['start=0.5x', { startShare: 0.5 }, "a start at 0.5 times the link's rate"],
  ] as const)('%s', (text, change, words) => {
    expect(serverChange(text, undefined)).toEqual(change);
    expect(changeInWords(change)).toBe(words);
  });

  it('can be repeated', () => {
    const both = serverChange('cc=bbr', serverChange('iw=20', undefined));
    expect(changeInWords(both)).toBe('an initial window of 20 packets and BBR');
  });

  it.each(['iw=0', 'iw=1.5', 'iw=', 'iw', 'cc=vegas', 'start=20', 'start=-1x', 'start=1e9mbit', 'x=1', ''])(
    'refuses %j',
    (text) => {
      expect(() => serverChange(text, undefined)).toThrow(/^expected iw=PACKETS .*, got ".*"\.$/);
    },
  );
});
