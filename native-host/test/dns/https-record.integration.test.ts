import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { afterEach, expect, it } from 'vitest';
import { DnsError, readNameServer } from '../../src/dns/dns-query.ts';
import { httpsRecords } from '../../src/dns/https-record.ts';
import { RecordLookups } from '../../src/probe/record-lookups.ts';
import { alpnValue, type DnsReply, DnsServer, httpsAnswer, serviceData } from '../support/dns-server.ts';

const ALPN = 1;
const TRUNCATED = 0x0200;
const SERVFAIL = 2;
const NXDOMAIN = 3;
const NEVER = new AbortController().signal;

let servers: DnsServer[] = [];

afterEach(async () => {
  for (const server of servers) await server.close();
  servers = [];
});

async function serve(...args: ConstructorParameters<typeof DnsServer>): Promise<DnsServer> {
  const server = await new DnsServer(...args).listen();
  servers.push(server);
  return server;
}

const h3 = (name: string, priority = 1): DnsReply => ({
  answers: [httpsAnswer(name, serviceData(priority, '', [[ALPN, alpnValue('h3', 'h2')]]))],
});

it('asks for the name of the origin, and for the port where it is not 443', async () => {
  const server = await serve((name) => h3(name));
  const [record] = await httpsRecords('https://a.test', [server.address], NEVER);
  expect(record).toEqual({ priority: 1, target: '', alpn: ['h3', 'h2'], port: null, ech: false });
  await httpsRecords('https://a.test:8443', [server.address], NEVER);
  expect(server.asked).toEqual(['a.test udp', '_8443._https.a.test udp']);
});

it('sends no query for addresses and names of this machine', async () => {
  const server = await serve((name) => h3(name));
  for (const host of ['127.0.0.1', '[::1]', 'localhost', 'a.localhost', 'printer.local']) {
    expect(await httpsRecords(`https://${host}`, [server.address], NEVER)).toEqual([]);
  }
  expect(server.asked).toEqual([]);
});

it('repeats a truncated answer over TCP', async () => {
  const server = await serve((name, transport) => (transport === 'udp' ? { flags: TRUNCATED } : h3(name)));
  expect(await httpsRecords('https://a.test', [server.address], NEVER)).toHaveLength(1);
  expect(server.asked).toEqual(['a.test udp', 'a.test tcp']);
});

it('follows aliases and CNAMEs, and stops in a loop', async () => {
  const server = await serve((name) => {
    if (name === 'alias.test') return { answers: [httpsAnswer(name, serviceData(0, 'real.test', []))] };
    if (name === 'circle.test') return { answers: [httpsAnswer(name, serviceData(0, 'circle.test', []))] };
    if (name !== 'cname.test') return h3(name);
    return {
      answers: [
        { name, type: 'CNAME', ttl: 1, data: 'Target.test' },
        ...h3('target.test').answers!,
        // Not part of the query.
        ...h3('other.test').answers!,
      ],
    };
  });
  const of = (host: string) => httpsRecords(`https://${host}`, [server.address], NEVER);
  expect(await of('alias.test')).toHaveLength(1);
  expect(await of('cname.test')).toHaveLength(1);
  expect(await of('circle.test')).toEqual([]);
  expect(server.asked.filter((asked) => asked.startsWith('circle'))).toHaveLength(5);
});

it('distinguishes a missing record from a failing resolver, and then queries the next resolver', async () => {
  const none = await serve(() => ({ flags: NXDOMAIN }));
  const failing = await serve(() => ({ flags: SERVFAIL }));
  const able = await serve((name) => h3(name));
  expect(await httpsRecords('https://a.test', [none.address, able.address], NEVER)).toEqual([]);
  expect(await httpsRecords('https://a.test', [failing.address, able.address], NEVER)).toHaveLength(1);
  const refused = httpsRecords('https://a.test', [failing.address], NEVER);
  await expect(refused).rejects.toThrow(/^the resolver 127\.0\.0\.1 answered with error 2$/);
  await expect(httpsRecords('https://a.test', [], NEVER)).rejects.toThrow(DnsError);
});

it('ignores hostile answers', async () => {
  const pointerToItself = Buffer.from([0, 1, 0x80, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0xc0, 12, 0, 65, 0, 1]);
  const replies: ((query: { id?: number }) => Buffer)[] = [
    () => Buffer.alloc(0),
    () => randomBytes(1000),
    ({ id }) => Buffer.concat([Buffer.from([id! >> 8, id! & 0xff]), pointerToItself.subarray(2)]),
    // A count of answers that are not there.
    ({ id }) => Buffer.from([id! >> 8, id! & 0xff, 0x80, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 0]),
  ];
  const records = replies.map(async (reply) => {
    const hostile = await serve((_name, _transport, query) => ({ raw: reply(query) }));
    const able = await serve((name) => h3(name));
    return httpsRecords('https://a.test', [hostile.address, able.address], NEVER);
  });
  for (const found of await Promise.all(records)) expect(found).toHaveLength(1);
  const crowd = await serve((name) => ({
    answers: Array.from({ length: 40 }, (_, index) => h3(name, 40 - index).answers![0]!),
  }));
  const many = await httpsRecords('https://a.test', [crowd.address], NEVER);
  expect(many).toHaveLength(16);
  expect(many[0]!.priority).toBe(25);
});

it('ignores answers to other queries', async () => {
  const server = await serve((_name, _transport, query) => {
    query.questions = [{ name: 'other.test', type: query.questions![0]!.type }];
    return h3('other.test');
  });
  await expect(httpsRecords('https://a.test', [server.address], NEVER)).rejects.toThrow('did not answer');
});

it('does not delay the probe for a resolver that drops the query', async () => {
  // A port that is held and silent.
  const silent = createSocket('udp4');
  await new Promise<void>((resolve) => silent.bind(0, '127.0.0.1', resolve));
  const end = new AbortController();
  const origins = Array.from({ length: 40 }, (_, index) => `https://${index}.test`);
  const lookups = new RecordLookups(
    origins,
    [{ address: '127.0.0.1', port: silent.address().port }],
    end.signal,
  );
  const unknown = { state: 'unknown', detail: 'no answer came before the probe ended' };
  expect(lookups.find('https://0.test')).toMatchObject(unknown);
  end.abort();
  await new Promise((resolve) => setImmediate(resolve));
  // What was under way has ended; the others do not begin.
  expect(lookups.find('https://0.test')).toMatchObject(unknown);
  expect(lookups.find('https://39.test')).toMatchObject(unknown);
  silent.close();
});

it.each([
  ['192.0.2.1', { address: '192.0.2.1', port: 53 }],
  ['192.0.2.1:5353', { address: '192.0.2.1', port: 5353 }],
  ['2001:db8::1', { address: '2001:db8::1', port: 53 }],
  ['[2001:db8::1]:5353', { address: '2001:db8::1', port: 5353 }],
])('reads the resolver %s', (text, expected) => {
  expect(readNameServer(text)).toEqual(expected);
});
