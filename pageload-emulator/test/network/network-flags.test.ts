import { describe, expect, it } from 'vitest';
import { knownFrom, NETWORK_FLAGS } from '../../src/network/network-flags.ts';
import { parseUdp, udpNotation, udpTreatment } from '../../src/network/udp-notation.ts';
import { InputError } from '../../src/util/input-error.ts';

const flag = (name: string) => NETWORK_FLAGS.find((each) => each.name === name)!;

describe('network flags', () => {
  it.each([
    ['rtt', '0', 0],
    ['rtt', '60000', 60_000],
    ['down', '0.01', 0.01],
    ['up', '10000', 10_000],
    ['loss', '0.5', 0.5],
    ['lossBurst', '1', 1],
    ['queue', '1', 1],
    ['udp', '3', { kind: 'policed', bps: 3e6 }],
    ['rtt', '60ms', 60],
    ['rtt', '0.06s', 60],
    ['down', '3mbit', 3],
    ['down', '20 Mbit/s', 20],
    ['up', '750kbit', 0.75],
    ['up', '1Gbps', 1_000],
    ['loss', '1%', 0.01],
    ['loss', '2.9%', 0.029],
    ['queue', '200ms', 200],
    ['udp', '3mbit', { kind: 'policed', bps: 3e6 }],
  ])('--%s takes %s', (name, text, value) => {
    expect(flag(name).parse(text)).toEqual(value);
  });

  it.each([
    ['rtt', '-1', 'expected milliseconds from 0 to 60000, such as 60, 60ms or 0.06s, got "-1"'],
    ['down', '', 'expected Mbit/s from 0.01 to 10000, such as 3, 3mbit or 3000kbit, got ""'],
    ['up', 'fast', 'expected Mbit/s from 0.01 to 10000, such as 3, 3mbit or 3000kbit, got "fast"'],
    ['loss', '0.51', 'expected a fraction from 0 to 0.5, such as 0.01 or 1%, got "0.51"'],
    ['lossBurst', '0.5', 'expected packets from 1 to 1000, such as 1 or 2.5, got "0.5"'],
    ['queue', '0', 'expected milliseconds from 1 to 60000, such as 60, 60ms or 0.06s, got "0"'],
    [
      'udp',
      'lossy',
      'expected open, blocked, or Mbit/s from 0.01 to 10000, such as 3, 3mbit or 3000kbit, got "lossy"',
    ],
    ['rtt', '60%', 'expected milliseconds from 0 to 60000, such as 60, 60ms or 0.06s, got "60%"'],
    ['loss', '1ms', 'expected a fraction from 0 to 0.5, such as 0.01 or 1%, got "1ms"'],
    ['down', 'mbit', 'expected Mbit/s from 0.01 to 10000, such as 3, 3mbit or 3000kbit, got "mbit"'],
    [
      'udp',
      '0',
      'expected open, blocked, or Mbit/s from 0.01 to 10000, such as 3, 3mbit or 3000kbit, got "0"',
    ],
  ])('--%s refuses %j', (name, text, message) => {
    expect(() => flag(name).parse(text)).toThrow(new InputError(message));
  });

  it('become figures in the units of the library', () => {
    const given = {
      rtt: 60,
      down: 20,
      up: 5,
      loss: 0.01,
      lossBurst: 4,
      queue: 50,
      udp: { kind: 'open' },
    } as const;
    expect(knownFrom(given, () => 0)).toEqual({
      rttMs: 60,
      downBps: 20e6,
      upBps: 5e6,
      loss: 0.01,
      lossBurst: 4,
      // 50 ms at 20 Mbit/s.
      queueBytes: 125_000,
      udp: { kind: 'open' },
    });
    expect(knownFrom({ queue: 50 }, () => 8e6)).toEqual({ queueBytes: 50_000 });
    expect(knownFrom({}, () => 0)).toEqual({});
  });
});

describe("notation of UDP's treatment", () => {
  it.each(['open', 'blocked', 0.07, 3, 1.1] as const)('%s goes there and back', (notation) => {
    expect(udpNotation(udpTreatment(notation))).toBe(notation);
    expect(parseUdp(String(notation))).toEqual(udpTreatment(notation));
  });

  it('has a word for UDP that loses more than TCP', () => {
    expect(udpNotation({ kind: 'lossy', loss: 0.1 })).toBe('lossy');
  });
});
