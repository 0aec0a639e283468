import { h3Offers } from '@hopwise/contract';
import { type Answer, encode } from 'dns-packet';
import { DnsError } from '../../../../native-host/src/dns/dns-query.ts';
import { httpsRecords } from '../../../../native-host/src/dns/https-record.ts';
import { readServiceRecord, type ServiceRecord } from '../../../../native-host/src/dns/svc-params.ts';
import {
  alpnValue,
  DnsServer,
  httpsAnswer,
  serviceData,
} from '../../../../native-host/test/support/dns-server.ts';
import { type FuzzTarget, hold } from '../target.ts';

const NAME = 'shop.test';
const RECORD = serviceData(1, 'cdn.test', [
  [0, Buffer.from([0, 1])],
  [1, alpnValue('h3', 'h2')],
  [3, Buffer.from([1, 187])],
  [5, Buffer.from('keys')],
]);
const ALIAS = serviceData(0, 'alias.test', []);

function checkRecord({ priority, target, alpn, port }: ServiceRecord): void {
  hold(Number.isInteger(priority) && priority >= 0 && priority < 65_536, 'a priority has 16 bits');
  hold(target.length <= 253, 'a target is no longer than a name');
  hold(port === null || (port >= 0 && port < 65_536), 'a port has 16 bits');
  for (const identifier of alpn) hold(/^[\x21-\x7e]{1,32}$/.test(identifier), 'identifiers are printable');
}

export const serviceRecords: FuzzTarget = {
  title: 'data of HTTPS records',
  input: 'bytes',
  seeds: () => [RECORD, ALIAS],
  open: () => ({
    run(input) {
      const record = readServiceRecord(input);
      if (record) checkRecord(record);
    },
  }),
};

export const altSvc: FuzzTarget = {
  title: 'Alt-Svc fields',
  input: 'bytes',
  dictionary: ['h3=":443"', '; ma=', '"', ',', 'h3-29=', 'clear', '[::1]'],
  seeds: () =>
    ['h3=":443"; ma=86400, h2=":443"', 'h3="[2001:db8::1]:8443"; ma="60"; persist=1', 'clear'].map((field) =>
      Buffer.from(field),
    ),
  open: () => ({
    run(input) {
      const offers = h3Offers(Buffer.from(input).toString('latin1'));
      hold(offers.length <= 8, 'few offers are kept');
      for (const { host, port, maxAgeS } of offers) {
        hold(port >= 1 && port <= 65_535, 'a port is one');
        hold(host.length <= 253 && Number.isSafeInteger(maxAgeS), 'an offer is as its type says');
      }
    },
  }),
};

/** An input is a resolver's packet; the query's number is written into it, since a client ignores others. */
export const dnsAnswers: FuzzTarget = {
  title: 'answers of resolvers',
  input: 'bytes',
  dictionary: ['\xc0\x0c', '\0\x41\0\x01', '\x04shop\x04test\0'],
  seeds: () =>
    [
      [httpsAnswer(NAME, RECORD)],
      [httpsAnswer(NAME, ALIAS)],
      [{ name: NAME, type: 'CNAME', ttl: 60, data: 'cdn.test' } as Answer, httpsAnswer('cdn.test', RECORD)],
      [],
    ].map((answers) =>
      encode({
        type: 'response',
        id: 0,
        questions: [{ name: NAME, type: 'UNKNOWN_65' as 'A' }],
        answers,
      }),
    ),
  async open() {
    let packet: Uint8Array = Buffer.alloc(0);
    let stop = new AbortController();
    const server = await new DnsServer((_name, transport, query) => {
      const raw = Buffer.from(packet);
      if (raw.length >= 2) raw.writeUInt16BE(query.id ?? 0);
      // Over UDP a client waits for another packet after one that it ignores.
      if (transport === 'udp') setTimeout(() => stop.abort(new DnsError('enough')), 5);
      return { raw };
    }).listen();
    return {
      async run(input) {
        packet = input;
        stop = new AbortController();
        try {
          for (const record of await httpsRecords(`https://${NAME}`, [server.address], stop.signal))
            checkRecord(record);
        } catch (error) {
          if (!(error instanceof DnsError)) throw error;
        }
      },
      close: () => server.close(),
    };
  },
};
