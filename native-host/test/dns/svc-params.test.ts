import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readServiceRecord } from '../../src/dns/svc-params.ts';
import { alpnValue, serviceData } from '../support/dns-server.ts';

const ALPN = 1;
const PORT = 3;
const ECH = 5;

it('reads the example of RFC 9460, appendix D.2: a port', () => {
  const data = Buffer.from('001003666f6f076578616d706c6503636f6d00000300020035', 'hex');
  expect(readServiceRecord(data)).toEqual({
    priority: 16,
    target: 'foo.example.com',
    alpn: [],
    port: 53,
    ech: false,
  });
});

it('reads protocols, port and the keys of an encrypted ClientHello', () => {
  const data = serviceData(1, '', [
    [ALPN, alpnValue('h3', 'h2')],
    [PORT, Buffer.from([0x20, 0xfb])],
    [ECH, Buffer.from('keys')],
  ]);
  expect(readServiceRecord(data)).toEqual({
    priority: 1,
    target: '',
    alpn: ['h3', 'h2'],
    port: 8443,
    ech: true,
  });
});

it.each([
  ['an empty record', Buffer.alloc(0)],
  ['a name that never ends', Buffer.from([0, 1, 5, 97])],
  ['a compressed name', Buffer.from([0, 1, 0xc0, 12])],
  ['a name that no host has', serviceData(1, 'a b.test', [])],
  ['a value longer than the record', Buffer.concat([serviceData(1, '', []), Buffer.from([0, 1, 0, 9, 2])])],
  [
    'keys out of order',
    serviceData(1, '', [
      [PORT, Buffer.from([0, 1])],
      [ALPN, alpnValue('h3')],
    ]),
  ],
  [
    'a key twice',
    serviceData(1, '', [
      [PORT, Buffer.from([0, 1])],
      [PORT, Buffer.from([0, 2])],
    ]),
  ],
  ['a port of one byte', serviceData(1, '', [[PORT, Buffer.from([1])]])],
  ['no protocols', serviceData(1, '', [[ALPN, Buffer.alloc(0)]])],
  ['an empty protocol', serviceData(1, '', [[ALPN, Buffer.from([0])]])],
  ['an unknown key that it calls mandatory', serviceData(1, '', [[0, Buffer.from([0, 77])]])],
])('does not use %s', (_name, data) => {
  expect(readServiceRecord(data)).toBeNull();
});

it('takes any bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      const record = readServiceRecord(bytes);
      if (record) expect([record.target, ...record.alpn].join()).toMatch(/^[\x20-\x7e]*$/);
    }),
  );
});
