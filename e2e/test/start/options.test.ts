/** The link that the command line of `npm start` asks for. */
import { expect, it, vi } from 'vitest';
import { networkFrom } from '../../src/start/network.ts';
import { parseOptions } from '../../src/start/options.ts';

it('replaces figures of a profile by those that are given', () => {
  const { network, asSet } = networkFrom(
    parseOptions(
      ['--network', 'lte', '--rtt', '80', '--down', '10', '--up', '2', '--queue', '50', '--udp', '3'].concat(
        '--loss=0.02',
        '--loss-burst=4',
      ),
    ),
  );
  expect(network).toMatchObject({
    rttMs: 80,
    downMbps: 10,
    upMbps: 2,
    loss: 0.02,
    lossBurst: 4,
    queue: { ms: 50 },
    udp: { policedMbps: 3 },
    seed: 1,
  });
  expect(asSet).toEqual({ name: 'lte, changed', rttMs: 80, downMbps: 10, upMbps: 2, loss: 0.02, udp: 3 });
  expect(networkFrom(parseOptions(['--network', 'lte'])).asSet).toMatchObject({ name: 'lte', udp: 'open' });
});

it('takes a given loss for an independent one, and keeps the bursts of the profile otherwise', () => {
  const burst = (...args: string[]) =>
    networkFrom(parseOptions(['--network', 'wifi-bursty', ...args])).network.lossBurst;
  expect(burst()).toBeGreaterThan(1);
  expect(burst('--rtt', '20')).toBe(burst());
  expect(burst('--loss', '0.02')).toBe(1);
});

it.each([
  [['--loss', '2'], /--loss.*expected a fraction from 0 to 0\.5, such as 0\.01 or 1%, got "2"/],
  [['--udp', 'closed'], /expected open, blocked, or Mbit\/s from 0\.01 to 10000, such as .*, got "closed"/],
  [['--server', 'apache'], /--server.*expected go or nginx/],
  [['--server', 'nginx', 'https://shop.example/'], /--server goes with the lab, not with a URL/],
  [['--loss-burst', '3', 'https://shop.example/'], /--loss-burst goes with the lab, not with a URL/],
  [
    ['news'],
    /^hopwise: url: expected an https:\/\/ URL; pages of the lab and files go with --page, got "news"/,
  ],
  [
    ['https://a.test/', 'now'],
    /^hopwise: expected at most 1 argument, got 2: https:\/\/a\.test\/, now \(see/,
  ],
])('refuses %j', (args, line) => {
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  try {
    expect(() => parseOptions(args)).toThrow();
    expect(written.mock.calls.join('')).toMatch(line);
  } finally {
    written.mockRestore();
  }
});
