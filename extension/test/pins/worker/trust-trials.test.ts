import { expect, test, vi } from 'vitest';
import { TrustTrials } from '../../../src/pins/worker/trust-trials.ts';

test('requests only the trial’s URL, without credentials and referrer', async () => {
  const fetch = vi.fn(async () => new Response(null, { status: 204 }));
  vi.stubGlobal('fetch', fetch);
  const onUnanswered = vi.fn();
  const trials = new TrustTrials({ onUnanswered });
  trials.setHosts(['a.example'], 'token');
  expect(trials.listOrigins()).toEqual(['https://a.example:49151']);
  trials.startDue();
  await vi.waitFor(() => expect(onUnanswered).toHaveBeenCalledOnce());
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
