import { afterEach, expect, test, vi } from 'vitest';
import { TrustTrials } from '../../../src/pins/worker/trust-trials.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('requests only the trial’s URL, without credentials and referrer', async () => {
  const fetch = vi.fn(async () => new Response(null, { status: 204 }));
  vi.stubGlobal('fetch', fetch);
  const onChange = vi.fn();
  const trials = new TrustTrials({ onChange });
  trials.setHosts(['a.example'], 'token');
  expect(trials.listOrigins()).toEqual(['https://a.example:49151']);
  trials.startDue();
  await vi.waitFor(() => expect(onChange).toHaveBeenCalledOnce());
  expect(fetch.mock.calls).toEqual([
    [
      'https://a.example:49151/token',
      {
        mode: 'no-cors',
        credentials: 'omit',
        cache: 'no-store',
        referrerPolicy: 'no-referrer',
        signal: expect.any(AbortSignal),
      },
    ],
  ]);
  expect(trials.listOrigins()).toEqual([]);
});

test('a trial that comes to nothing is repeated by time, less and less often, until the helper waits for it no longer', async () => {
  vi.useFakeTimers();
  const askedMs: number[] = [];
  const began = Date.now();
  const trials = new TrustTrials({
    // As the worker does: it routes what is listed, then starts what is due.
    onChange: () => trials.startDue(),
    ask: async () => {
      askedMs.push(Date.now() - began);
      throw new Error('no route yet');
    },
  });
  trials.setHosts(['a.example'], 'token');
  trials.startDue();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(askedMs).toEqual([0, 100, 600, 2_600]);
  // No page can see by the trial's port what is pinned while none runs.
  expect(trials.listOrigins()).toEqual([]);

  await vi.advanceTimersByTimeAsync(30 * 60_000);
  const begins = askedMs.filter((_, at) => at % 4 === 0);
  expect(begins.map((at, n) => at - (begins[n - 1] ?? 0) - 2_600)).toEqual([
    -2_600, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000, 300_000, 300_000,
  ]);

  const asked = askedMs.length;
  trials.setHosts([], 'token');
  await vi.advanceTimersByTimeAsync(60 * 60_000);
  expect(askedMs).toHaveLength(asked);
});

test('the helper’s end ends the wait for another trial', async () => {
  vi.useFakeTimers();
  const onChange = vi.fn();
  const ask = vi.fn(() => Promise.reject(new Error('no route yet')));
  const trials = new TrustTrials({ onChange, ask });
  trials.setHosts(['a.example'], 'token');
  trials.startDue();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(onChange).toHaveBeenCalledOnce();
  trials.endAll();
  await vi.advanceTimersByTimeAsync(60 * 60_000);
  expect(onChange).toHaveBeenCalledOnce();
});
