import {
  encodeVerification,
  joinVerification,
  MAX_MESSAGE_TO_BROWSER_BYTES,
  toExtension,
  toHost,
  type Verification,
  verificationSchema,
} from '@hopwise/native-host/messages';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planOf } from './support/server.ts';

const probe = {
  type: 'probe',
  id: 'a',
  plan: planOf(['https://a.test/', 'https://a.test/x.css']),
  protocols: ['h1', 'h3'],
  rounds: 3,
  budgetBytes: 1e6,
};

/** A verification with `transfers` results in its only round. */
function verification(transfers: number, error = ''): Verification {
  return {
    pageUrl: 'https://a.test/',
    engine: 'libcurl/8.14.1',
    startedAt: '2026-11-20T12:00:00.000Z',
    udp: 'open',
    bytes: 1,
    protocols: {
      h2: {
        unavailable: '',
        medianMs: 1,
        lowMs: 1,
        highMs: 1,
        provedRequests: transfers,
        answeredRequests: transfers,
        rounds: [
          {
            totalMs: 1,
            bytes: 1,
            failed: 0,
            minRttMs: null,
            lossEvents: null,
            segmentsIn: null,
            transfers: Array.from({ length: transfers }, (_, index) => ({
              index,
              protocol: 'h2' as const,
              status: 200,
              bytes: 1,
              startMs: 0,
              dnsMs: null,
              connectMs: null,
              handshakeMs: null,
              firstByteMs: 0.1,
              endMs: 0.2,
              newConnection: false,
              error,
            })),
          },
        ],
      },
    },
  };
}

describe('toHost', () => {
  it('takes a probe', () => {
    expect(toHost.parse(probe)).toEqual(probe);
  });

  it.each([
    ['a plain http page', { ...probe, plan: { ...probe.plan, pageUrl: 'http://a.test/' } }],
    ['a plan without transfers', { ...probe, plan: { ...probe.plan, transfers: [] } }],
    ['more rounds than 20', { ...probe, rounds: 21 }],
    ['an unknown protocol', { ...probe, protocols: ['h4'] }],
    ['a budget below zero', { ...probe, budgetBytes: -1 }],
    ['an unknown type', { ...probe, type: 'shell' }],
    ['an id that is no text', { type: 'cancel', id: 7 }],
  ])('refuses %s', (_name, message) => {
    expect(toHost.safeParse(message).success).toBe(false);
  });

  it('never throws', () => {
    fc.assert(fc.property(fc.anything(), (value) => typeof toHost.safeParse(value).success === 'boolean'));
  });
});

describe('encodeVerification', () => {
  it('keeps a small one whole', () => {
    const parts = encodeVerification('a', verification(3));
    expect(parts).toHaveLength(1);
    expect(toExtension.parse(parts[0])).toEqual(parts[0]);
    expect(verificationSchema.parse(JSON.parse(joinVerification(parts)!))).toEqual(verification(3));
  });

  it('cuts a large one into messages that browsers take', () => {
    const whole = verification(20_000);
    const parts = encodeVerification('a', whole);
    expect(parts.length).toBeGreaterThan(2);
    for (const part of parts) {
      expect(Buffer.byteLength(JSON.stringify(part))).toBeLessThanOrEqual(900 * 1024);
      expect(Buffer.byteLength(JSON.stringify(part))).toBeLessThan(MAX_MESSAGE_TO_BROWSER_BYTES);
      toExtension.parse(part);
    }
    expect(JSON.parse(joinVerification(parts)!)).toEqual(whole);
    expect(joinVerification([...parts].reverse())).toBe(joinVerification(parts));
    expect(joinVerification(parts.slice(1))).toBeNull();
    expect(joinVerification([])).toBeNull();
  });

  it.each(['"\\"\\"', '\u0001\u001f', 'ß€', '🚀', '\ud800x'])('counts %j as JSON writes it', (text) => {
    const parts = encodeVerification('a', verification(4000, text.repeat(60)));
    expect(parts.length).toBeGreaterThan(1);
    for (const part of parts) expect(Buffer.byteLength(JSON.stringify(part))).toBeLessThanOrEqual(900 * 1024);
    expect(JSON.parse(joinVerification(parts)!)).toEqual(verification(4000, text.repeat(60)));
  });
});
