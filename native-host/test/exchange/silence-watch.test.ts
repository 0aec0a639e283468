import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, expect, it } from 'vitest';
import { SilenceWatch } from '../../src/exchange/silence-watch.ts';

const LIMIT_MS = 50;
const LONG_MS = 150;

let silences: number;
let watch: SilenceWatch;

beforeEach(() => {
  silences = 0;
  watch = new SilenceWatch(
    () => LIMIT_MS,
    () => {
      silences += 1;
    },
  );
});

it('notices that nothing comes after a request', async () => {
  watch.onSent();
  watch.onSent();
  await sleep(LONG_MS);
  expect(silences).toBe(1);
});

it('takes a packet that had already arrived when the request was sent for no answer', async () => {
  watch.onSent();
  watch.onReceived();
  await sleep(LONG_MS);
  expect(silences).toBe(1);
});

it('takes any later packet for an answer', async () => {
  watch.onSent();
  await nextTurn();
  watch.onReceived();
  await sleep(LONG_MS);
  expect(silences).toBe(0);
});

it('is stopped at once where nothing is awaited any more', async () => {
  watch.onSent();
  watch.stop();
  await sleep(LONG_MS);
  expect(silences).toBe(0);
});
