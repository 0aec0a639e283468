import { expect, test } from 'vitest';
import { gatherOriginFacts } from '../../../src/devtools/emulation/origin-facts.ts';
import { loadOf, requestOf } from '../../evidence/stored-loads.ts';

test('facts of each origin, third parties by their registrable domain', () => {
  const { recording } = loadOf(1, {
    recording: {
      url: 'https://www.page.co.uk/',
      requests: [
        requestOf(0, { url: 'https://www.page.co.uk/', connectionId: '1' }),
        requestOf(1, { url: 'https://img.page.co.uk/1', connectionId: '2', protocol: 'h3', offersH3: true }),
        requestOf(2, { url: 'https://img.page.co.uk/2', connectionId: '3', offersH3: false }),
        requestOf(3, { url: 'https://a.other.co.uk/', transferBytes: 99_000, remoteIp: '2001:db8::1' }),
      ],
    },
  });
  // Each waited for 50 ms on a connection that was open: connections have names, and none shows a handshake.
  expect(gatherOriginFacts(recording)).toMatchObject([
    {
      rttMs: 50,
      origin: 'https://a.other.co.uk',
      site: 'other.co.uk',
      isThirdParty: true,
      offersH3: null,
      connections: null,
      addresses: ['2001:db8::1'],
    },
    {
      rttMs: 50,
      origin: 'https://img.page.co.uk',
      isThirdParty: false,
      requests: 2,
      bytes: 20_600,
      used: { h2: 1, h3: 1 },
      offersH3: true,
      connections: 2,
    },
    {
      rttMs: 50,
      origin: 'https://www.page.co.uk',
      connections: 1,
      used: { h2: 1 },
      addresses: ['9.9.9.9'],
    },
  ]);
});
