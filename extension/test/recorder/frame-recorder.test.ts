import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { FrameRecorder } from '../../src/recorder/frame-recorder.ts';

const sent = vi.fn(async (_message: unknown) => undefined);
let loadEventEnd = 0;

beforeEach(() => {
  vi.useFakeTimers();
  sent.mockClear();
  class NoObserver {
    observe(): void {}
    disconnect(): void {}
    takeRecords(): [] {
      return [];
    }
  }
  const window = { length: 0, top: null as unknown };
  window.top = window;
  vi.stubGlobal('window', window);
  vi.stubGlobal('PerformanceObserver', NoObserver);
  vi.stubGlobal('performance', {
    now: () => 250,
    timeOrigin: 0,
    getEntriesByName: () => [],
    getEntriesByType: () => [{ name: '', loadEventEnd }],
  });
  vi.stubGlobal('location', new URL('https://page.example/'));
  vi.stubGlobal('requestIdleCallback', (run: () => void) => run());
  vi.stubGlobal('addEventListener', vi.fn());
  vi.stubGlobal('removeEventListener', vi.fn());
  vi.stubGlobal('chrome', { runtime: { onMessage: { addListener: vi.fn() }, sendMessage: sent } });
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function start(readyState: DocumentReadyState): void {
  vi.stubGlobal('document', { readyState, addEventListener: vi.fn() });
  new FrameRecorder(null, Promise.resolve(true));
}

const SETTLED = { type: 'page-settled', loaded: true };

test('a page whose load event is under way has settled a second later', async () => {
  loadEventEnd = 0;
  start('complete');
  await vi.advanceTimersByTimeAsync(999);
  expect(sent).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(sent.mock.calls).toMatchObject([[SETTLED]]);
});

test('a page that had loaded before has settled a second after that', async () => {
  loadEventEnd = 100;
  start('complete');
  await vi.advanceTimersByTimeAsync(850);
  expect(sent.mock.calls).toMatchObject([[SETTLED]]);
});

test('a page that still loads has not settled', async () => {
  loadEventEnd = 0;
  start('interactive');
  await vi.advanceTimersByTimeAsync(5000);
  expect(sent).not.toHaveBeenCalled();
});
