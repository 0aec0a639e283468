import { describe, expect, it } from 'vitest';
import { showMeasuredAdvice } from '../src/advise/command.ts';
import { serversFollowing, TESTABLE, testableAdvice } from '../src/advise/server-changes.ts';

describe('servers that follow advice', () => {
  it('change in that alone', () => {
    const before = serversFollowing(null, false);
    expect(before).toEqual({
      congestionControl: 'cubic',
      initialWindow: 10,
      priorities: 'ignored',
      altSvc: false,
    });
    expect(serversFollowing('bbr', false)).toEqual({ ...before, congestionControl: 'bbr' });
    expect(serversFollowing('initial-window', false)).toEqual({ ...before, initialWindow: 32 });
    expect(serversFollowing('offer-h3', false)).toEqual({ ...before, altSvc: true });
    expect(serversFollowing('withdraw-h3', true)).toEqual(before);
  });

  it.each([true, false])('differ from those before, with HTTP/3 offered: %s', (offersH3) => {
    const kinds = testableAdvice(offersH3);
    expect(kinds).toHaveLength(TESTABLE.length - 1);
    for (const kind of kinds) {
      expect(serversFollowing(kind, offersH3)).not.toEqual(serversFollowing(null, offersH3));
    }
  });
});

it('gains are shown in percent, their difference in points', () => {
  const shown = showMeasuredAdvice([
    { kind: 'bbr', predicted: 0.3, measured: { gain: 0.254, low: 0.2, high: 0.31 } },
  ]);
  expect(shown.split('\n')).toEqual([
    'advice        predicted   measured     low    high   difference',
    'send by BBR       30.0%      25.4%   20.0%   31.0%         -4.6',
  ]);
});
