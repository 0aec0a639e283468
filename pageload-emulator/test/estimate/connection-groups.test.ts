import type { RecordedRequest, Recording } from '@hopwise/pageload-emulator';
import { expect, it } from 'vitest';
import { connectionGroups } from '../../src/estimate/connection-groups.ts';

type Carried = Pick<RecordedRequest, 'url' | 'protocol' | 'connectionId' | 'remoteIp' | 'fromCache'>;

function groupsOf(
  requests: [host: string, protocol: Carried['protocol'], connection: string | null, ip?: string][],
) {
  const carried = requests.map(([host, protocol, connectionId, ip = '192.0.2.1']): Carried => {
    return { url: `https://${host}.test/x`, protocol, connectionId, remoteIp: ip, fromCache: false };
  });
  return Object.fromEntries(connectionGroups({ requests: carried } as unknown as Recording));
}

it('groups the origins that one multiplexed connection served', () => {
  expect(
    groupsOf([
      ['a', 'h2', '1'],
      ['b', 'h2', '1'],
      ['c', 'h2', '2'],
      ['d', 'h3', '3'],
      ['b', 'h3', '3'],
    ]),
  ).toEqual({
    'https://a.test': 'https://d.test',
    'https://b.test': 'https://d.test',
    'https://d.test': 'https://d.test',
  });
});

it('does not group by equal ports to different addresses, HTTP/1.1 or unknown connections', () => {
  expect(
    groupsOf([
      ['a', 'h2', '443', '192.0.2.1'],
      ['b', 'h2', '443', '192.0.2.2'],
      ['c', 'h1', '7'],
      ['d', 'h1', '7'],
      ['e', 'h2', null],
      ['f', 'h2', null],
      ['g', 'h2', '9'],
      ['g', 'h2', '9'],
    ]),
  ).toEqual({});
});
