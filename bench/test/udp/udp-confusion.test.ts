import type { UdpVerdict } from '@hopwise/contract';
import { expect, it, vi } from 'vitest';
import { confusion, isWrong, type JudgedProbe, renderConfusion } from '../../src/udp/confusion.ts';
import { parseOptions } from '../../src/udp/options.ts';

function judged(
  udp: JudgedProbe['udp'],
  verdict: UdpVerdict['verdict'],
  more: Partial<UdpVerdict> = {},
  network = 'net',
): JudgedProbe {
  return {
    page: 'shop',
    network,
    seed: 1,
    udp,
    verdict: {
      verdict,
      reason: 'for a test',
      answered: true,
      quicBps: null,
      tcpBps: null,
      ratio: null,
      pairs: 1,
      bytes: 1,
      ...more,
    },
    bytes: 400_000,
    elapsedMs: 2_000,
  };
}

const ratio = (mean: number) => ({ ratio: { low: mean / 2, mean, high: mean * 2 } });

it('counts verdicts by network, and the reported rate of a policer', () => {
  const policed = { policedMbps: 4 };
  const rows = confusion([
    judged(policed, 'policed', { quicBps: 3.6e6, ...ratio(0.2) }),
    judged(policed, 'policed', { quicBps: 3.8e6, ...ratio(0.3) }),
    judged(policed, 'unknown', ratio(0.5)),
    judged('open', 'open', {}, 'other'),
  ]);
  expect(rows).toEqual([
    {
      network: 'net',
      treatment: 'policed at 4',
      probes: 3,
      counts: { open: 0, policed: 2, blocked: 0, unknown: 1 },
      ratio: { low: 0.2, high: 0.5 },
      rateShare: 0.925,
    },
    {
      network: 'other',
      treatment: 'open',
      probes: 1,
      counts: { open: 1, policed: 0, blocked: 0, unknown: 0 },
      ratio: null,
      rateShare: null,
    },
  ]);
});

it('counts verdicts that differ from the link as wrong, and lists them', () => {
  expect(isWrong(judged('open', 'policed'))).toBe(true);
  expect(isWrong(judged({ policedMbps: 1 }, 'open'))).toBe(true);
  expect(isWrong(judged({ policedMbps: 1 }, 'policed'))).toBe(false);
  expect(isWrong(judged('blocked', 'unknown'))).toBe(false);
  const text = renderConfusion([
    judged('open', 'policed'),
    judged('open', 'open'),
    judged('open', 'unknown'),
  ]);
  expect(text).toContain('1 of 2 verdicts are wrong, 1 of 3 probes are not certain');
  expect(text).toContain('shop on net, seed 1: policed: for a test');
});

it('accepts rates of UDP and the networks’ own treatment, and refuses other values', () => {
  expect(parseOptions([]).udp).toEqual([null]);
  expect(parseOptions(['--udp', 'own,2.5']).udp).toEqual([null, 2.5]);
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  for (const args of [
    ['--udp', 'fast'],
    ['--seeds', '0'],
    ['--rounds', '21'],
    ['--pages', ','],
  ]) {
    expect(() => parseOptions(args)).toThrow();
  }
});
