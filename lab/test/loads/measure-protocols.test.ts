import { describe, expect, it } from 'vitest';
import { type Attempt, type Measured, measureProtocols } from '../../src/loads/measure-protocols.ts';
import type { FailedLoad, Load } from '../../src/loads/measuring-browser.ts';

const load = (pltMs: number, proved = true): Load => ({
  ok: true,
  pltMs,
  fcpMs: null,
  lcpMs: null,
  requests: [],
  proved,
  failed: [],
  recording: null,
});
const failure = (reason: string): FailedLoad => ({ ok: false, kind: 'unreachable', reason });

/** Returns the loads in turn and records the calls. */
function loader(name: string, answers: (Load | FailedLoad)[], asked: string[] = []) {
  let next = 0;
  return {
    async load() {
      asked.push(name);
      const answer = answers[next++];
      if (answer === undefined) throw new Error(`${name} was asked ${next} times`);
      return answer;
    },
  };
}

describe('measureProtocols', () => {
  const common = { url: 'https://a.test/', timeoutMs: 1000 };

  it('takes turns in an order that changes', async () => {
    const asked: string[] = [];
    const three = () => [load(1), load(2), load(3)];
    await measureProtocols({
      ...common,
      loadsPerProtocol: 3,
      browsers: {
        h1: loader('h1', three(), asked),
        h2: loader('h2', three(), asked),
        h3: loader('h3', three(), asked),
      },
    });
    expect(asked).toEqual(['h1', 'h2', 'h3', 'h3', 'h2', 'h1', 'h2', 'h3', 'h1']);
  });

  it('summarises loads and counts proved ones', async () => {
    const measured = await measureProtocols({
      ...common,
      loadsPerProtocol: 3,
      browsers: { h2: loader('h2', [load(30), load(10, false), load(20)]) },
    });
    expect(measured.h2).toMatchObject({
      medianMs: 20,
      lowMs: 10,
      highMs: 30,
      range: 'min-max',
      proved: 2,
      repeated: 0,
      failed: 0,
    });
  });

  it('drops and repeats disturbed loads, and counts them', async () => {
    const measured = await measureProtocols({
      ...common,
      loadsPerProtocol: 2,
      browsers: { h2: loader('h2', [load(900), load(10), load(12)]) },
      hooks: { afterLoad: async (_, { pltMs }) => (pltMs > 100 ? 'repeat' : 'keep') },
    });
    expect(measured.h2).toMatchObject({ medianMs: 11, repeated: 1 });
    expect((measured.h2 as Measured).loads).toHaveLength(2);
  });

  it('announces each load', async () => {
    const attempts: Attempt[] = [];
    await measureProtocols({
      ...common,
      loadsPerProtocol: 2,
      browsers: { h2: loader('h2', [load(900), failure('once'), load(10), load(12)]) },
      hooks: {
        beforeLoad: async (_, attempt) => void attempts.push(attempt),
        afterLoad: async (_, { pltMs }) => (pltMs > 100 ? 'repeat' : 'keep'),
      },
    });
    expect(attempts).toEqual([
      { round: 0, failures: 0 },
      { round: 0, failures: 0 },
      { round: 0, failures: 1 },
      { round: 1, failures: 0 },
    ]);
  });

  it('finally keeps a load when the disturbance does not end', async () => {
    const measured = await measureProtocols({
      ...common,
      loadsPerProtocol: 1,
      browsers: {
        h2: loader(
          'h2',
          Array.from({ length: 5 }, () => load(50)),
        ),
      },
      hooks: { afterLoad: async () => 'repeat' },
    });
    expect(measured.h2).toMatchObject({ medianMs: 50, repeated: 4 });
  });

  it('treats a protocol as unavailable after two failures and stops trying it', async () => {
    const asked: string[] = [];
    const totals: number[] = [];
    const measured = await measureProtocols({
      ...common,
      loadsPerProtocol: 2,
      browsers: {
        h2: loader('h2', [load(1), load(2)], asked),
        h3: loader('h3', [failure('no answer'), failure('no answer')], asked),
      },
      onProgress: ({ total }) => totals.push(total),
    });
    expect(measured.h3).toEqual({ unavailable: 'no answer' });
    expect(asked).toEqual(['h2', 'h3', 'h3', 'h2']);
    expect(totals).toEqual([4, 2, 2]);
  });

  it('tries a failed load again and counts the failure', async () => {
    const measured = await measureProtocols({
      ...common,
      loadsPerProtocol: 1,
      browsers: { h3: loader('h3', [failure('once'), load(7)]) },
    });
    expect(measured.h3).toMatchObject({ medianMs: 7, failed: 1 });
  });

  it('stops loading under a protocol that has enough loads', async () => {
    const asked: string[] = [];
    const totals: number[] = [];
    const measured = await measureProtocols({
      ...common,
      loadsPerProtocol: 3,
      browsers: {
        h2: loader('h2', [load(1), load(2), load(3)], asked),
        h3: loader('h3', [load(9)], asked),
      },
      isEnough: (protocol, { h2 = [], h3 = [] }) =>
        protocol === 'h3' && Math.min(...h3) > 3 * Math.max(...h2),
      onProgress: ({ total }) => totals.push(total),
    });
    expect(asked).toEqual(['h2', 'h3', 'h2', 'h2']);
    expect(totals).toEqual([6, 4, 4, 4]);
    expect(measured.h3).toMatchObject({ medianMs: 9, lowMs: 9, highMs: 9, failed: 0 });
  });

  it('stops on abort', async () => {
    const stop = new AbortController();
    const running = measureProtocols({
      ...common,
      loadsPerProtocol: 5,
      browsers: { h2: loader('h2', [load(1), load(2)]) },
      signal: stop.signal,
      onProgress: ({ done }) => done === 2 && stop.abort(new Error('enough')),
    });
    await expect(running).rejects.toThrow('enough');
  });

  it('refuses an invalid number of loads', async () => {
    await expect(measureProtocols({ ...common, loadsPerProtocol: 0, browsers: {} })).rejects.toThrow(
      /loadsPerProtocol 0/,
    );
  });
});
