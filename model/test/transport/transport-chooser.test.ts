import { mean } from '@hopwise/contract';
import { describe, expect, test } from 'vitest';
import { type TimedRequest, type TimedTransport, TransportChooser } from '../../src/index.ts';

/** What a transport's requests take on a network: until the first byte, and a byte. */
type Pace = Record<TimedTransport, { ttfbMs: number; msPerByte: number }>;

const OPEN: Pace = { tcp: { ttfbMs: 60, msPerByte: 4e-4 }, quic: { ttfbMs: 50, msPerByte: 4e-4 } };
const POLICED: Pace = { tcp: { ttfbMs: 60, msPerByte: 4e-4 }, quic: { ttfbMs: 90, msPerByte: 8e-3 } };
const EQUAL: Pace = { tcp: OPEN.tcp, quic: OPEN.tcp };
const EVERY_MS = 300;
const SEEDS = Array.from({ length: 60 }, (_, seed) => seed + 1);

interface Session {
  requests: TimedRequest[];
  switches: { at: number; to: TimedTransport; reason: string }[];
}

/** A session of requests of many sizes, one after the other, whose times scatter by a quarter. */
function simulate(
  phases: readonly { pace: Pace; requests: number }[],
  seed: number,
  mayTryQuic = true,
): Session {
  const random = generator(seed);
  const chooser = new TransportChooser();
  const session: Session = { requests: [], switches: [] };
  let endedAtMs = 1_700_000_000_000;
  for (const { pace, requests } of phases) {
    for (let count = 0; count < requests; count++) {
      endedAtMs += EVERY_MS;
      const { transport } = chooser;
      const { ttfbMs, msPerByte } = pace[transport];
      const bodyBytes = Math.round(500 * 400 ** random());
      const scatter = Math.exp(0.25 * normal(random));
      const request = {
        endedAtMs,
        transport,
        ttfbMs: scatter * ttfbMs,
        completionMs: scatter * (ttfbMs + msPerByte * bodyBytes),
        bodyBytes,
      };
      session.requests.push(request);
      const choice = chooser.add([request], mayTryQuic);
      if (choice)
        session.switches.push({ at: session.requests.length, to: choice.transport, reason: choice.reason });
    }
  }
  return session;
}

/** Mulberry32. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const normal = (random: () => number): number =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

const shareOf = (sessions: readonly Session[], isSo: (session: Session) => boolean): number =>
  sessions.filter(isSo).length / sessions.length;

const lastOf = ({ requests }: Session): TimedTransport => requests.at(-1)!.transport;

describe('a session', () => {
  test('begins over TCP, and goes on over QUIC where that is no slower', () => {
    for (const pace of [OPEN, EQUAL]) {
      const sessions = SEEDS.map((seed) => simulate([{ pace, requests: 60 }], seed));
      for (const { requests, switches } of sessions) {
        expect(requests.slice(0, 10).every(({ transport }) => transport === 'tcp')).toBe(true);
        expect(switches[0]).toMatchObject({ at: 10, to: 'quic', reason: 'try' });
      }
      // Chance takes some switches back; they are tried again later.
      expect(shareOf(sessions, (session) => lastOf(session) === 'quic')).toBeGreaterThan(0.8);
    }
  });

  test('takes QUIC back within ten requests where UDP is policed, and waits longer after each trial', () => {
    const sessions = SEEDS.map((seed) => simulate([{ pace: POLICED, requests: 600 }], seed));
    for (const { switches } of sessions) {
      expect(switches[1]).toMatchObject({ to: 'tcp', reason: 'rolled-back' });
      expect(switches[1]!.at - switches[0]!.at).toBeLessThanOrEqual(10);
      const trials = switches.filter(({ to }) => to === 'quic').map(({ at }) => at * EVERY_MS);
      const waits = trials.slice(1).map((ms, index) => ms - trials[index]!);
      expect(waits[0]).toBeGreaterThanOrEqual(30_000);
      for (const [index, wait] of waits.slice(1).entries()) expect(wait).toBeGreaterThan(1.5 * waits[index]!);
    }
    // Trials included, requests take little longer than always over TCP.
    const tcpMs = (bytes: number) => POLICED.tcp.ttfbMs + POLICED.tcp.msPerByte * bytes;
    const extra = sessions.map(
      ({ requests }) =>
        mean(requests.map(({ completionMs }) => completionMs)) /
        mean(requests.map(({ bodyBytes }) => tcpMs(bodyBytes))),
    );
    expect(mean(extra)).toBeLessThan(1.35);
  });

  test('leaves QUIC when UDP begins to be policed in its middle', () => {
    const sessions = SEEDS.map((seed) =>
      simulate(
        [
          { pace: OPEN, requests: 80 },
          { pace: POLICED, requests: 60 },
        ],
        seed,
      ),
    ).filter(({ requests }) => requests[79]!.transport === 'quic');
    expect(sessions.length).toBeGreaterThan(40);
    expect(shareOf(sessions, ({ requests }) => requests[105]!.transport === 'tcp')).toBeGreaterThan(0.95);
  });

  test('does not try QUIC where the network is known to hinder UDP, nor where the origin refuses it', () => {
    expect(simulate([{ pace: OPEN, requests: 60 }], 1, false).switches).toEqual([]);
    const chooser = new TransportChooser();
    const requests = simulate([{ pace: OPEN, requests: 60 }], 1, false).requests;
    expect(chooser.add(requests.slice(0, 10), true)).toEqual({ transport: 'quic', reason: 'try' });
    chooser.undoSwitch(requests[9]!.endedAtMs, true);
    expect(chooser.transport).toBe('tcp');
    expect(chooser.add(requests.slice(10), true)).toBeNull();
  });

  test('requests that were in progress at a switch decide nothing', () => {
    const chooser = new TransportChooser();
    const { requests } = simulate([{ pace: OPEN, requests: 60 }], 1, false);
    expect(chooser.add(requests.slice(0, 10), true)).not.toBeNull();
    const late = requests
      .slice(6)
      .map((request) => ({ ...request, completionMs: 100 * request.completionMs }));
    expect(chooser.add(late, true)).toBeNull();
  });

  /** Requests that take a time each, one after the other. @returns the reasons of the switches */
  function add(
    chooser: TransportChooser,
    count: number,
    transport: TimedTransport,
    tookMs: number,
  ): string[] {
    return Array.from({ length: count }, () => {
      endedAtMs += EVERY_MS;
      const request = { endedAtMs, transport, ttfbMs: tookMs / 2, completionMs: tookMs, bodyBytes: 12_000 };
      return chooser.add([request], true)?.reason;
    }).filter((reason) => reason !== undefined);
  }
  let endedAtMs = 1_700_000_000_000;

  test('leaves a transport that becomes much slower while it waits after a rollback', () => {
    const chooser = new TransportChooser();
    expect(add(chooser, 10, 'tcp', 100)).toEqual(['try']);
    expect(add(chooser, 40, 'quic', 100)).toEqual([]);
    expect(add(chooser, 10, 'quic', 200)).toEqual(['slowed-down']);
    expect(add(chooser, 4, 'tcp', 400)).toEqual(['rolled-back']);
    expect(add(chooser, 2, 'quic', 100)).toEqual([]);
    expect(add(chooser, 10, 'quic', 700)).toEqual(['slowed-down']);
    expect(chooser.transport).toBe('tcp');
  });

  test('a small slowdown is no reason to try the other transport, however sure', () => {
    const chooser = new TransportChooser();
    add(chooser, 10, 'tcp', 100);
    expect(add(chooser, 40, 'quic', 100)).toEqual([]);
    expect(add(chooser, 40, 'quic', 115)).toEqual([]);
  });
});
