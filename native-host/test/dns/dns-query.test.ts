import { expect, it } from 'vitest';
import { dnsQuery } from '../../src/dns/dns-query.ts';

const NOBODY = [{ address: '127.0.0.1', port: 9 }];

// The last one would be a query for a name of three letters.
it.each([
  'a..test',
  '.test',
  `${'a'.repeat(64)}.test`,
  `${'a'.repeat(60)}.`.repeat(5),
  `${'a'.repeat(259)}.test`,
])('asks no resolver for a name that the DNS cannot have (%#)', async (name) => {
  const { signal } = new AbortController();
  await expect(dnsQuery(name, 'A', NOBODY, signal)).rejects.toThrow('the DNS can have no such name');
});

it.each(['a.test', 'a.test.', `${'a'.repeat(63)}.test`, '_8443._https.a.test'])(
  'asks for %s',
  async (name) => {
    const { signal } = new AbortController();
    await expect(dnsQuery(name, 'A', [], signal)).rejects.toThrow('the system names no resolver');
  },
);
