import { expect, it } from 'vitest';
import { readPlan } from '../../src/probe/origins.ts';
import type { HttpsRecord } from '../../src/probe/record-lookups.ts';
import { survey, withoutH3 } from '../../src/probe/survey.ts';
import type { RoundReport, RoundRequest } from '../../src/rounds/round.ts';
import { planOf } from '../support/server.ts';

const RECORD: HttpsRecord = { state: 'present', alpn: [], port: null, target: '', ech: false, detail: '' };

const FAILED = { protocol: null, code: 7 } as const;

/** Surveys a page of one origin whose server answers under everything. */
async function surveyed(
  record: Partial<HttpsRecord>,
  altSvc = '',
  h3Error = '',
  h3Code: number = FAILED.code,
) {
  const { origins } = readPlan(planOf(['https://a.test/']));
  const requests: RoundRequest[] = [];
  const run = async (request: RoundRequest): Promise<RoundReport> => {
    requests.push(request);
    const results = request.transfers.map(({ protocol }, index) => ({
      index,
      ...(protocol === 'h3' && h3Error !== ''
        ? { ...FAILED, code: h3Code, error: h3Error }
        : { protocol, code: 0, error: '' }),
      status: 200,
      bytes: 100,
      startMs: 0,
      dnsMs: 1,
      connectMs: 2,
      handshakeMs: protocol === 'h3' && h3Error !== '' ? null : 3,
      firstByteMs: 4,
      endMs: 5,
      newConnection: true,
      altSvc,
      remoteIp: '192.0.2.1',
    }));
    return { results, bytes: 100, connections: [], ended: 'whole' };
  };
  const { origins: profiles } = await survey({
    planned: origins.values(),
    protocols: ['h2', 'h3'],
    recordOf: () => ({ ...RECORD, ...record }),
    run,
    settings: {} as Omit<RoundRequest, 'transfers' | 'pageFrom'>,
    reachesPage: 'loopback',
  });
  const [trial] = requests.flatMap(({ transfers }) => transfers).filter(({ protocol }) => protocol === 'h3');
  return { profile: profiles.get('https://a.test')!, connectTo: trial?.connectTo };
}

it('tries HTTP/3 where the HTTPS record alone offers it', async () => {
  const { profile, connectTo } = await surveyed({ alpn: ['h2', 'h3'] });
  expect(profile).toMatchObject({ offersH3: true, speaksH3: true, altSvc: [] });
  expect(connectTo).toBe('');
});

it('goes where the record leads', async () => {
  const { connectTo } = await surveyed({ alpn: ['h3'], port: 8443, target: 'b.test' });
  expect(connectTo).toBe('a.test:443:b.test:8443');
});

it('goes by what the server itself says where both offer it', async () => {
  const { connectTo } = await surveyed({ alpn: ['h3'], port: 8443 }, 'h3=":444"');
  expect(connectTo).toBe('a.test:443:a.test:444');
});

it('tries nothing where neither does', async () => {
  const { profile, connectTo } = await surveyed({ alpn: ['h2'] }, 'h2=":444"');
  expect(profile).toMatchObject({ offersH3: false, speaksH3: null });
  expect(connectTo).toBeUndefined();
});

it.each([
  ['QUIC: connection to 192.0.2.1 port 443 refused', 'a.test offers HTTP/3 in vain: its UDP port is closed'],
  ['Connection timed out after 5000 milliseconds', 'UDP is blocked: HTTP/3 is offered by 1 origin'],
])('tells a closed port from silence: %s', async (error, why) => {
  const { profile } = await surveyed({ alpn: ['h3'] }, '', error);
  expect(withoutH3([profile])).toContain(why);
});

it('names the port that an offer leads to', async () => {
  const { profile } = await surveyed(
    {},
    'h3="b.test:9443"',
    'QUIC: connection to 192.0.2.2 port 9443 refused',
  );
  expect(withoutH3([profile])).toBe('a.test offers HTTP/3 in vain: the UDP port that it names is closed');
});

it.each([
  ['has no address', 6, 'Could not resolve host: b.test'],
  ['may not be reached', 42, '10.0.0.1 is a local address, which a public page may not reach'],
])('takes no place for blocked UDP that %s', async (_what, code, error) => {
  const { profile } = await surveyed({}, 'h3="b.test:443"', error, code);
  expect(profile).toMatchObject({ h3NoConnection: false, h3Unsent: true });
  expect(withoutH3([profile])).toBe(`HTTP/3 is offered but fails at https://a.test: ${error}`);
});
