import { EASY_NETWORK } from '@hopwise/lab/client/networks';
import type { SessionRow } from '@hopwise/lab/requests/session-row';
import { expect, it } from 'vitest';
import { pairSessions, replaySession, type SessionPair } from '../../src/transport/replay-sessions.ts';

const COUNT = 80;
const EVERY_MS = 200;
/** The helper's first report comes 2 s after the first response has arrived, and then the next request begins. */
const FIRST_AFTER_REPORT = 11;

interface Made {
  took: (index: number) => number;
  protocol?: (index: number) => number | null;
  before?: SessionRow['before'];
  changesBefore?: number;
}

/** A session whose requests begin each 200 ms; its columns are in another order than its requests. */
function session(
  transport: SessionRow['transport'],
  { took, protocol, before, changesBefore }: Made,
  stack: SessionRow['stack'] = 'go',
): SessionRow {
  const order = Array.from({ length: COUNT }, (_, at) => COUNT - 1 - at);
  const tookMs = order.map(took);
  return {
    condition: 'train-1-0000',
    split: 'train',
    change: 'none',
    stack,
    transport,
    before: before ?? EASY_NETWORK,
    after: [],
    changesBefore: changesBefore ?? null,
    changedMs: [],
    refusal: '',
    requests: {
      index: order,
      startedMs: order.map((index) => EVERY_MS * index),
      tookMs,
      status: order.map(() => 200),
      bytes: order.map(() => 1_000),
      protocol: order.map(protocol ?? (() => (transport === 'tcp' ? 2 : 3))),
      endedMs: order.map(() => null),
      ttfbMs: tookMs.map((ms) => ms / 2),
      completionMs: tookMs,
      isReused: order.map(() => 1),
      rttMs: order.map(() => null),
      segments: order.map(() => null),
      outOfOrder: order.map(() => null),
    },
  };
}

function pair(tcp: Made, quic: Made): SessionPair {
  const [joined, ...others] = pairSessions([session('quic', quic), session('tcp', tcp)]);
  expect(others).toEqual([]);
  return joined!;
}

const always = (ms: number): Made => ({ took: () => ms });

it('takes to QUIC after the first report, and stays where it is faster', () => {
  const faster = pair(always(100), always(50));
  expect(replaySession(faster, { tries: 'as-shipped' })).toEqual({
    meanMs: (100 * FIRST_AFTER_REPORT + 50 * (COUNT - FIRST_AFTER_REPORT)) / COUNT,
    switches: 1,
    rollbacks: 0,
  });
  expect(replaySession(faster, { always: 'tcp' }).meanMs).toBe(100);
  expect(replaySession(faster, { always: 'quic' }).meanMs).toBe(50);
});

it('takes a switch back that does harm, at the next report', () => {
  const { meanMs, switches, rollbacks } = replaySession(pair(always(100), always(300)), {
    tries: 'as-shipped',
  });
  expect([switches, rollbacks]).toEqual([1, 1]);
  expect(meanMs).toBeGreaterThan(100);
  expect(meanMs).toBeLessThan(100 + (200 * 2 * FIRST_AFTER_REPORT) / COUNT);
});

it('stays with a switch that does harm where nothing is taken back', () => {
  const harmed = pair(always(100), always(300));
  expect(replaySession(harmed, { tries: 'without-rollback' })).toEqual({
    meanMs: (100 * FIRST_AFTER_REPORT + 300 * (COUNT - FIRST_AFTER_REPORT)) / COUNT,
    switches: 1,
    rollbacks: 0,
  });
});

it('does not try QUIC where the network hinders UDP, nor, with TCP first, before requests slow down', () => {
  const hindered = { ...always(100), before: { ...EASY_NETWORK, udp: { policedMbps: 1 } } };
  expect(replaySession(pair(hindered, always(50)), { tries: 'as-shipped' }).switches).toBe(0);
  expect(replaySession(pair(always(100), always(50)), { tries: 'when-slower' }).switches).toBe(0);
  const slowing = { took: (index: number) => (index < 40 ? 100 : 400) };
  const { switches, meanMs } = replaySession(pair(slowing, always(50)), { tries: 'when-slower' });
  expect(switches).toBe(1);
  expect(meanMs).toBeLessThan(250);
});

it('goes on over TCP where the helper has fallen back', () => {
  const blocked: Made = {
    took: (index) => (index < 20 ? 50 : 80),
    protocol: (index) => (index < 20 ? 3 : 2),
  };
  const { meanMs, switches, rollbacks } = replaySession(pair(always(100), blocked), { tries: 'as-shipped' });
  expect([switches, rollbacks]).toEqual([1, 0]);
  expect(meanMs).toBe(
    (100 * FIRST_AFTER_REPORT + 50 * (20 - FIRST_AFTER_REPORT) + 80 + 100 * (COUNT - 21)) / COUNT,
  );
});

it('knows the best transport before a change and after it, and leaves out sessions without the other one', () => {
  const changing: Made = { took: (index) => (index < 20 ? 100 : 30), changesBefore: 20 };
  const both = pair(changing, always(50));
  expect(both.changesAt).toBe(20);
  expect(replaySession(both, { always: 'best' }).meanMs).toBe((50 * 20 + 30 * (COUNT - 20)) / COUNT);
  expect(pairSessions([session('tcp', always(1))])).toEqual([]);
});

it('knows in each phase what was better with the other stack, or in the first half of the phase', () => {
  const [own, other] = pairSessions([
    session('tcp', { took: () => 100, changesBefore: 40 }),
    session('quic', { took: (index) => (index % 40 < 20 ? 50 : 300) }),
    session('tcp', { took: () => 10, changesBefore: 40 }, 'nginx-quiche'),
    session('quic', { took: (index) => (index < 40 ? 5 : 20) }, 'nginx-quiche'),
  ]);
  expect(own!.withOtherStack).toBe(other);
  expect(replaySession(own!, { always: 'best' }).meanMs).toBe(100);
  expect(replaySession(own!, { always: 'best-with-other-stack' }).meanMs).toBe((50 + 300 + 100 + 100) / 4);
  expect(replaySession(own!, { always: 'best-so-far' }).meanMs).toBe((100 + 300) / 2);
  const single = pair(always(100), always(50));
  expect(single.withOtherStack).toBeNull();
  expect(replaySession(single, { always: 'best-with-other-stack' }).meanMs).toBe(100);
});
