import { expect, it } from 'vitest';
import type { RoundResult } from '../../src/probe/round-result.ts';
import { type UdpEvidence, udpVerdict } from '../../src/probe/udp-verdict.ts';

const KB = 1000;

/** Transfers one after the other, of the plan's indices from `first` on; a connection takes 50 ms. */
function round(
  protocol: 'h2' | 'h3',
  { resources = 20, bytes = 50 * KB, bps = 10e6, first = 0, startMs = 0, waitMs = 0 } = {},
): RoundResult {
  const eachMs = (8000 * bytes) / bps + waitMs;
  const transfers = Array.from({ length: resources }, (_, index) => ({
    index: first + index,
    protocol,
    status: 200,
    bytes,
    startMs: startMs + (index === 0 ? 0 : 50 + index * eachMs),
    dnsMs: index === 0 ? startMs : null,
    connectMs: null,
    handshakeMs: index === 0 ? startMs + 50 : null,
    firstByteMs: startMs + 50 + index * eachMs + waitMs,
    endMs: startMs + 50 + (index + 1) * eachMs,
    newConnection: index === 0,
    error: '',
  }));
  return {
    totalMs: transfers.at(-1)!.endMs,
    bytes: resources * bytes,
    failed: 0,
    minRttMs: null,
    lossEvents: null,
    segmentsIn: null,
    retransmitted: null,
    transfers,
  };
}

function judge(h2: RoundResult[], h3: RoundResult[], more: Partial<UdpEvidence> = {}) {
  return udpVerdict({
    untried: '',
    refused: '',
    tried: [true],
    h2,
    h3,
    originOf: () => 'https://a.test',
    ...more,
  });
}

it('is blocked where no connection is established, and unknown where none was attempted', () => {
  expect(judge([], [], { tried: [false, false] })).toMatchObject({ verdict: 'blocked', answered: false });
  expect(judge([], [], { tried: [], untried: 'no server offers it' })).toMatchObject({
    verdict: 'unknown',
    answered: null,
    reason: 'no server offers it',
  });
});

it('is unknown where servers refuse what they offer: their answer came through', () => {
  const refused = 'a.test offers HTTP/3 in vain: its UDP port is closed';
  expect(judge([], [], { tried: [false], refused })).toMatchObject({
    verdict: 'unknown',
    answered: false,
    reason: refused,
  });
});

it('counts whole bytes, also between two rounds of which one has one more', () => {
  const sizes = [50 * KB, 50 * KB + 1];
  const rounds = (protocol: 'h2' | 'h3') => sizes.map((bytes) => round(protocol, { resources: 21, bytes }));
  // 21 responses each: between 1050000 and 1050021 bytes.
  const { bytes, pairs } = judge(rounds('h2'), rounds('h3'));
  expect(pairs).toBe(2);
  expect(bytes).toBe(1_050_011);
});

it('is open where QUIC is as fast as TCP, over one pair of rounds or several', () => {
  const udp = judge([round('h2')], [round('h3')]);
  expect(udp).toMatchObject({ verdict: 'open', answered: true, pairs: 1, bytes: 1_000_000 });
  // The handshake is not counted: 20 transfers of 50 kB at 10 Mbit/s.
  expect(udp.tcpBps).toBeCloseTo(10e6, 3);
  expect(udp.quicBps).toBeCloseTo(10e6, 3);
  expect(udp.ratio!.mean).toBeCloseTo(1, 9);
  const three = judge([round('h2'), round('h2'), round('h2')], [round('h3'), round('h3'), round('h3')]);
  expect(three.ratio!.high / three.ratio!.low).toBeLessThan(udp.ratio!.high / udp.ratio!.low);
});

it('is policed where QUIC is far slower on the same responses', () => {
  const udp = judge([round('h2')], [round('h3', { bps: 2e6 })]);
  expect(udp).toMatchObject({ verdict: 'policed', answered: true });
  expect(udp.quicBps).toBeCloseTo(2e6, 3);
  expect(udp.reason).toMatch(
    /^UDP is policed to a lower rate: HTTP\/3 carries 20% \(\d+% to \d+%\) of HTTP\/2's rate$/,
  );
});

it('is not policed for a server that is slow under both', () => {
  const slow = { waitMs: 400 };
  expect(judge([round('h2', slow)], [round('h3', slow)]).verdict).toBe('open');
  // What little there is to transfer is lost among the waits: no claim, though the path holds UDP back.
  const few = { ...slow, bytes: 25 * KB };
  expect(judge([round('h2', few)], [round('h3', { ...few, bps: 2e6 })]).verdict).not.toBe('policed');
});

it('is not policed where only one of two servers has a slow HTTP/3', () => {
  const both = (protocol: 'h2' | 'h3', slowBps: number) => {
    const other = { first: 20, startMs: 100_000, resources: 4 };
    const a = round(protocol, { bps: slowBps });
    const b = round(protocol, other);
    return { ...a, transfers: [...a.transfers, ...b.transfers] };
  };
  const originOf = (index: number) => (index < 20 ? 'https://slow.test' : 'https://fast.test');
  const udp = judge([both('h2', 10e6)], [both('h3', 1e6)], { originOf });
  expect(udp.verdict).toBe('unknown');
  expect(udp.reason).toContain('not from https://fast.test');
  expect(judge([both('h2', 10e6)], [both('h3', 1e6)]).verdict).toBe('policed');
});

it('is less certain where TCP meets losses, which meet QUIC at other moments', () => {
  const lossy = (lossEvents: number) => ({ ...round('h2'), segmentsIn: 1000, lossEvents });
  const h3 = [round('h3', { bps: 3.5e6 })];
  expect(judge([lossy(2)], h3).verdict).toBe('policed');
  expect(judge([lossy(3)], h3).verdict).toBe('unknown');
  expect(judge([lossy(3), lossy(2), lossy(4)], [...h3, ...h3, ...h3]).verdict).toBe('policed');
});

it('is not policed where QUIC is fast, though TCP is far faster', () => {
  const verdict = (quicBps: number) =>
    judge([round('h2', { bps: 500e6 })], [round('h3', { bps: quicBps })]).verdict;
  expect([verdict(60e6), verdict(30e6)]).toEqual(['unknown', 'policed']);
});

it('is unknown with too few bytes, and where pairs of rounds disagree', () => {
  const few = { resources: 3 };
  const udp = judge([round('h2', few)], [round('h3', { ...few, bps: 1e6 })]);
  expect(udp).toMatchObject({ verdict: 'unknown', bytes: 150 * KB });
  expect(udp.reason).toContain('200 kB are needed');
  const h2 = [round('h2'), round('h2')];
  const disagreeing = judge(h2, [round('h3', { bps: 1.5e6 }), round('h3', { bps: 9e6 })]);
  expect(disagreeing.verdict).toBe('unknown');
  expect(disagreeing.reason).toContain('not certain');
});

it('is certain with few bytes only where QUIC is about as fast as TCP, or far slower', () => {
  const verdicts = [12e6, 7e6, 5e6, 2e6].map(
    (bps) => judge([round('h2', { resources: 7 })], [round('h3', { resources: 7, bps })]).verdict,
  );
  expect(verdicts).toEqual(['open', 'open', 'unknown', 'policed']);
});

it('compares only what gave the same response under both', () => {
  const h3 = round('h3', { bps: 2e6 });
  for (const one of h3.transfers.slice(0, 5)) one.protocol = 'h2' as never;
  for (const one of h3.transfers.slice(5, 10)) one.bytes *= 3;
  h3.transfers[10]!.status = 500;
  h3.transfers[11]!.error = 'it broke off';
  expect(judge([round('h2')], [h3])).toMatchObject({ verdict: 'policed', bytes: 400 * KB });
  expect(judge([round('h2', { first: 100 })], [h3])).toMatchObject({ pairs: 0, ratio: null, answered: true });
});
