import type { Protocol } from '@hopwise/contract';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Libcurl, Pointer } from '../../src/curl/libcurl.ts';
import type { ExchangeTransfer } from '../../src/exchange/exchange-transfer.ts';
import { type ExchangeEntry, UpstreamConnection } from '../../src/exchange/upstream-connection.ts';

/** libcurl that does nothing: the tests play its part. */
const curl = {
  callback: () => 0n,
  freeCallback: () => {},
  multiInit: () => 1n,
  multiSetPointer: () => {},
  multiSetLong: () => {},
  multiAdd: () => {},
  multiRemove: () => {},
  multiCleanup: () => {},
} as unknown as Libcurl;

let opened: UpstreamConnection[];
/** How often a connection had room again. */
let capacities: number;
let silences: number;
let firstBytes: number[];

beforeEach(() => {
  vi.useFakeTimers();
  opened = [];
  capacities = 0;
  silences = 0;
  firstBytes = [];
});
afterEach(() => {
  for (const connection of opened) connection.close();
  vi.useRealTimers();
});

function open(protocol: Protocol): UpstreamConnection {
  const connection = new UpstreamConnection({
    curl,
    protocol,
    streamLimit: 100,
    onFault: (fault) => {
      throw fault;
    },
    onActed: () => {},
    onEnd: () => {},
    onCapacity: () => {
      capacities += 1;
    },
    onStreamLimit: () => {},
    isOfNetwork: () => true,
    silenceLimitMs: () => 600,
    onSilent: () => {
      silences += 1;
    },
    onHeard: () => {},
    onFirstByte: (afterMs) => firstBytes.push(afterMs),
  });
  opened.push(connection);
  return connection;
}

class FakeTransfer {
  readonly easy: Pointer;
  connected = false;
  firstByteMs: number | null = null;
  readonly canRestart = true;

  constructor(number: number) {
    this.easy = BigInt(number) as unknown as Pointer;
  }

  limitConnecting(): void {}
  traceStreamLimit(): void {}
  restart(): void {
    this.connected = false;
  }
}

/** Adds an exchange, to which libcurl gives a stream at once or not. */
function add(connection: UpstreamConnection, number: number, isConnected: boolean): ExchangeEntry {
  const transfer = new FakeTransfer(number);
  const entry = { transfer: transfer as unknown as ExchangeTransfer, sinceMs: 0, done: () => {} };
  connection.add(entry);
  transfer.connected = isConnected;
  expect(connection.reclaimUnassigned()).toEqual([]);
  return entry;
}

it('that is broken and empty is closed once, however often that is asked for', () => {
  const connection = open('h3');
  connection.reclaimFromSilence();
  const run = vi.fn();
  connection.runWhenIdle(0, run);
  connection.runWhenIdle(0, run);
  vi.runAllTimers();
  expect(run).toHaveBeenCalledTimes(1);
});

it.each(['idle', 'broken'])('that is %s does nothing more once it is closed', (phase) => {
  const connection = open('h3');
  if (phase === 'broken') connection.reclaimFromSilence();
  const run = vi.fn();
  connection.runWhenIdle(0, run);
  connection.close();
  vi.runAllTimers();
  expect(run).not.toHaveBeenCalled();
});

it('without a free stream takes no exchange until one of its own ends', () => {
  const connection = open('h2');
  const first = add(connection, 1, true);
  const waiting = add(connection, 2, false);
  expect(connection.waitsForStream).toBe(waiting);
  expect(connection.canAccept).toBe(false);
  // The exchange that waits is cancelled: there is still no stream.
  connection.remove(waiting.transfer);
  expect([connection.waitsForStream, connection.canAccept]).toEqual([null, false]);
  connection.remove(first.transfer);
  expect(connection.canAccept).toBe(true);
});

it('whose stream libcurl gives to the exchange that waits takes another one only after it', () => {
  const connection = open('h2');
  const first = add(connection, 1, true);
  const waiting = add(connection, 2, false);
  connection.remove(first.transfer);
  expect([connection.waitsForStream, connection.canAccept]).toEqual([waiting, false]);
  (waiting.transfer as unknown as FakeTransfer).connected = true;
  connection.reclaimUnassigned();
  expect([connection.waitsForStream, connection.canAccept]).toEqual([null, true]);
});

it('that opens takes one exchange, and over HTTP/3 asks again for a stream', () => {
  const connection = open('h3');
  const first = add(connection, 1, false);
  expect([connection.waitsForStream, connection.canAccept]).toEqual([null, false]);
  (first.transfer as unknown as FakeTransfer).connected = true;
  connection.reclaimUnassigned();
  expect(connection.canAccept).toBe(true);
  const waiting = add(connection, 2, false);
  connection.remove(waiting.transfer);
  vi.advanceTimersByTime(50);
  expect([capacities, connection.canAccept]).toEqual([1, true]);
});

it('says that nothing comes back while it opens over HTTP/3, and when responses begin', () => {
  const connection = open('h3');
  const first = add(connection, 1, false);
  add(connection, 2, false);
  vi.advanceTimersByTime(599);
  expect(silences).toBe(0);
  vi.advanceTimersByTime(1);
  vi.runOnlyPendingTimers();
  expect([silences, connection.isOpening]).toEqual([1, true]);
  (first.transfer as unknown as FakeTransfer).connected = true;
  (first.transfer as unknown as FakeTransfer).firstByteMs = 42;
  connection.reclaimUnassigned();
  connection.remove(first.transfer);
  expect([firstBytes, connection.isOpening]).toEqual([[42], false]);
});
