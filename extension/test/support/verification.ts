import type { Verification } from '@hopwise/contract';

/** A verification without results, except for `more`. */
export function verificationOf(more: Partial<Verification> = {}): Verification {
  return {
    pageUrl: 'https://a.test/',
    engine: '',
    startedAt: '2026-11-20T12:00:00Z',
    protocols: {},
    origins: [],
    udp: udpOf('unknown', null),
    bytes: 0,
    budgetBytes: 0,
    leftOut: 0,
    ...more,
  };
}

/** A UDP verdict without rates. */
export function udpOf(
  verdict: Verification['udp']['verdict'],
  answered: boolean | null,
): Verification['udp'] {
  return { verdict, reason: '', answered, quicBps: null, tcpBps: null, ratio: null, pairs: 0, bytes: 0 };
}
