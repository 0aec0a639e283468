import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { PageRequest } from '../../src/background/page-requests.ts';
import type { LatestAnswer } from '../../src/messages/load-messages.ts';
import { pollLoad } from '../../src/ui/load-polling.ts';

let answer: (request: PageRequest) => Promise<unknown>;

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('document', { hidden: false });
  vi.stubGlobal('chrome', { runtime: { sendMessage: (request: PageRequest) => answer(request) } });
});

afterEach(() => {
  vi.clearAllTimers();
  vi.useRealTimers();
});

const recorded = (loadId: number): LatestAnswer => ({
  ok: true,
  phase: 'recorded',
  problem: '',
  loadId,
  load: null,
  canExportQueries: false,
  incomplete: null,
  pinGain: null,
});

test('shows a load once, even if its prediction takes long, and again after a refresh in between', async () => {
  let whole = 0;
  answer = async (request) => {
    if (!('brief' in request)) {
      whole += 1;
      await new Promise((resolve) => setTimeout(resolve, 5000));
    }
    return recorded(7);
  };
  const shown: LatestAnswer[] = [];
  const watch = pollLoad({ tabId: 1 }, (one) => shown.push(one), expect.unreachable);
  await vi.advanceTimersByTimeAsync(4000);
  expect([whole, shown.length]).toEqual([1, 0]);
  watch.refresh();
  await vi.advanceTimersByTimeAsync(2000);
  expect(shown).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(20_000);
  expect([whole, shown.length]).toEqual([2, 2]);
});

test('reports once why there is no answer, and shows the load when there is one again', async () => {
  answer = async () => ({ ok: false, error: 'the store is full' });
  const problems: string[] = [];
  const shown: LatestAnswer[] = [];
  pollLoad(
    { tabId: 1 },
    (one) => shown.push(one),
    (problem) => problems.push(problem),
  );
  await vi.advanceTimersByTimeAsync(3500);
  expect(problems).toEqual(['the store is full']);
  answer = async () => recorded(8);
  await vi.advanceTimersByTimeAsync(1000);
  expect(shown).toHaveLength(1);
});
