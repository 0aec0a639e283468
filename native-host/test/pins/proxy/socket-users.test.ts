import { expect, it } from 'vitest';
import { explainUnknownUsers } from '../../../src/pins/proxy/socket-users.ts';

it.each<NodeJS.Platform>(['darwin', 'win32', 'freebsd'])(
  'tells users apart on Linux only, not on %s',
  (platform) => {
    expect(explainUnknownUsers(platform)).toMatch(/^pins need Linux so far: .+$/);
  },
);

it('does not tell them apart for the user as whom the kernel shows those that it cannot name', () => {
  expect(explainUnknownUsers('linux', 65_534)).toMatch(/^pins need a user of their own: .+65534/);
  expect(explainUnknownUsers('linux', 1_000)).toBe('');
});
