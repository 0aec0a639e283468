import {
  encodeVerification,
  MAX_MESSAGE_TO_BROWSER_BYTES,
  MAX_PIN_MINUTES,
  MAX_PINS,
  toExtension,
  toHost,
  type Verification,
  verificationSchema,
} from '@hopwise/contract';
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

const pin = {
  type: 'pin',
  id: 'a',
  origin: 'https://a.test',
  kind: 'avoid-h3',
  minutes: 60,
  persistent: false,
};

const pins = {
  type: 'pins',
  id: '',
  port: 40_000,
  resets: 0,
  caHosts: ['a.test'],
  launcher: '/usr/bin/hopwise-host',
  trials: ['a.test'],
  trialToken: 't'.repeat(22),
  pins: [
    {
      origin: 'https://a.test',
      kind: 'h3',
      expiresAtMs: null,
      persistent: true,
      state: 'lifted',
      reason: 'it refused HTTP/3',
    },
  ],
};

/** A verification with `transfers` results in its only round. */
function verification(transfers: number, error = ''): Verification {
  return {
    pageUrl: 'https://a.test/',
    engine: 'libcurl/8.14.1',
    startedAt: '2026-11-20T12:00:00.000Z',
    origins: [],
    udp: {
      verdict: 'unknown',
      reason: 'HTTP/3 was not requested',
      answered: null,
      quicBps: null,
      tcpBps: null,
      ratio: null,
      pairs: 0,
      bytes: 0,
    },
    bytes: 1,
    budgetBytes: 3,
    leftOut: 0,
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
            retransmitted: null,
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
    'https://a.test',
    'https://a.test:8443',
    'https://xn--bcher-kva.test',
    'https://a.test.',
    'https://[2001:db8::1]:444',
    'https://192.0.2.1',
  ])('takes pins of %s', (origin) => {
    for (const message of [
      { ...pin, origin },
      { ...pin, origin, minutes: null, persistent: true },
      { type: 'unpin', id: 'b', origin },
    ]) {
      expect(toHost.parse(message)).toEqual(message);
    }
  });

  it.each([
    'http://a.test',
    'wss://a.test',
    'https://A.test',
    'https://a.test/',
    'https://a.test:443',
    'https://a.test:0443',
    'https://a.test:65536',
    'https://user@a.test',
    'https://a.test?',
    'https://a.test#',
    'https://bücher.test',
    'https://a.test\n',
    ' https://a.test',
    'https://0x7f000001',
    'https://[2001:db8:0::1]',
    `https://${'a'.repeat(300)}`,
    'https://',
    'null',
    '',
  ])('takes no pins of %j, for one origin has one text', (origin) => {
    expect(toHost.safeParse({ ...pin, origin }).success).toBe(false);
    expect(toHost.safeParse({ type: 'unpin', id: 'b', origin }).success).toBe(false);
  });

  it.each([
    ['a pin for no time', { ...pin, minutes: 0 }],
    ['a pin for more than 30 days', { ...pin, minutes: MAX_PIN_MINUTES + 1 }],
    ['a pin for half a minute', { ...pin, minutes: 0.5 }],
    ['a pin that does not say whether it lasts', { ...pin, persistent: undefined }],
    ['a pin of an unknown kind', { ...pin, kind: 'avoid-h2' }],
    ['a pin that wants no answer', { ...pin, id: '' }],
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

describe('toExtension', () => {
  it('takes pins', () => {
    expect(toExtension.parse(pins)).toEqual(pins);
    expect(toExtension.parse({ ...pins, port: 0, pins: [] })).toMatchObject({ pins: [] });
  });

  it.each([
    ['a port beyond', { ...pins, port: 65_536 }],
    ['too many', { ...pins, pins: Array.from({ length: MAX_PINS + 1 }, () => pins.pins[0]) }],
    ['an origin with a path', { ...pins, pins: [{ ...pins.pins[0], origin: 'https://a.test/x' }] }],
    ['an unknown state', { ...pins, pins: [{ ...pins.pins[0], state: 'paused' }] }],
  ])('refuses pins with %s', (_name, message) => {
    expect(toExtension.safeParse(message).success).toBe(false);
  });

  it('never throws', () => {
    fc.assert(
      fc.property(fc.anything(), (value) => typeof toExtension.safeParse(value).success === 'boolean'),
    );
  });
});

describe('encodeVerification', () => {
  const join = (parts: ReturnType<typeof encodeVerification>): unknown =>
    JSON.parse(parts.map(({ json }) => json).join(''));

  it('keeps a small one whole', () => {
    const parts = encodeVerification('a', verification(3));
    expect(parts).toHaveLength(1);
    expect(toExtension.parse(parts[0])).toEqual(parts[0]);
    expect(verificationSchema.parse(join(parts))).toEqual(verification(3));
  });

  it('cuts a large one into messages that browsers take', () => {
    const whole = verification(20_000);
    const parts = encodeVerification('a', whole);
    expect(parts.length).toBeGreaterThan(2);
    for (const part of parts) {
      expect(Buffer.byteLength(JSON.stringify(part))).toBeLessThanOrEqual(900_000);
      expect(Buffer.byteLength(JSON.stringify(part))).toBeLessThan(MAX_MESSAGE_TO_BROWSER_BYTES);
      toExtension.parse(part);
    }
    expect(join(parts)).toEqual(whole);
    expect(parts.map(({ part }) => part)).toEqual([...parts.keys()]);
    expect(parts.every((part) => part.parts === parts.length)).toBe(true);
  });

  it.each(['"\\"\\"', '\u0001\u001f', 'ß€', '🚀', '\ud800x'])(
    'has space for %j as JSON writes it, and cuts no character',
    (text) => {
      const parts = encodeVerification('a', verification(4000, text.repeat(60)));
      expect(parts.length).toBeGreaterThan(1);
      for (const part of parts) {
        expect(Buffer.byteLength(JSON.stringify(part))).toBeLessThanOrEqual(900_000);
        expect(part.json).not.toMatch(/\p{Surrogate}/u);
      }
      expect(join(parts)).toEqual(verification(4000, text.repeat(60)));
    },
  );
});
