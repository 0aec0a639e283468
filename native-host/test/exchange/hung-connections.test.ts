import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { TcpSilence } from '../../src/curl/tcp-info.ts';
import { HUNG_AFTER_MS, HungConnections, keepAliveWithin } from '../../src/exchange/hung-connections.ts';

const LIMIT_MS = 20_000;
const SOCKET = 7;

let reset: number[];
/** What the kernel says of `SOCKET`, and whether something is under way. */
let silence: TcpSilence;
let isBusy: boolean;
let hasAddress: boolean;
let looks: number;

beforeEach(() => {
  vi.useFakeTimers();
  reset = [];
  looks = 0;
  isBusy = true;
  hasAddress = true;
  silence = { unheardMs: 0, unanswered: 0 };
  const connections = new HungConnections({
    limitMs: LIMIT_MS,
    sockets: () => {
      looks += 1;
      return isBusy ? [SOCKET] : null;
    },
    read: () => silence,
    hasAddress: () => hasAddress,
    reset: (socket) => reset.push(socket),
  });
  connections.watch();
});

afterEach(() => {
  vi.useRealTimers();
});

/** Lets seconds pass, in each of which the peer was heard or not. */
function pass(seconds: number, heard: boolean): void {
  for (let second = 0; second < seconds; second += 1) {
    silence = { ...silence, unheardMs: heard ? 0 : silence.unheardMs + 1000 };
    vi.advanceTimersByTime(1000);
  }
}

it('resets a connection once nothing was acknowledged for the limit', () => {
  silence = { unheardMs: 60_000, unanswered: 4 };
  pass(21, false);
  expect(reset).toEqual([]);
  pass(2, false);
  expect(reset).toEqual([SOCKET]);
});

it('resets a connection whose address is gone at the next check, unless all it sent was acknowledged', () => {
  hasAddress = false;
  pass(2, false);
  expect(reset).toEqual([]);
  silence = { unheardMs: 1_000, unanswered: 1 };
  pass(2, false);
  expect(reset).toEqual([SOCKET]);
});

it('does not reset a connection that was heard meanwhile, or a new one with its number', () => {
  silence = { unheardMs: 0, unanswered: 4 };
  pass(18, false);
  pass(2, true);
  pass(18, false);
  expect(reset).toEqual([]);
});

it('does not reset a connection with nothing to acknowledge, or with a window that has been closed for long', () => {
  pass(100, false);
  silence = { ...silence, unanswered: 2 };
  pass(100, false);
  expect(reset).toEqual([]);
});

it('reads no socket while no exchange is in progress', () => {
  isBusy = false;
  pass(100, false);
  expect(looks).toBe(1);
});

it('has the kernel probe five times, and end idle connections after the same limit', () => {
  expect(HUNG_AFTER_MS).toBe(20_000);
  // 10 s + 5 × 2 s
  expect(keepAliveWithin(HUNG_AFTER_MS)).toEqual({ idleS: 10, intervalS: 2, count: 5 });
  // 1 s + 1 × 1 s
  expect(keepAliveWithin(2000)).toEqual({ idleS: 1, intervalS: 1, count: 1 });
});
