import { expect, it } from 'vitest';
import { readPlan } from '../src/probe/origins.ts';
import type { HttpsRecord } from '../src/probe/record-lookups.ts';
import { survey } from '../src/probe/survey.ts';
import type { RoundReport, RoundRequest } from '../src/rounds/round.ts';
import { planOf } from './support/server.ts';

const RECORD: HttpsRecord = { state: 'present', alpn: [], port: null, target: '', ech: false, detail: '' };

/** Surveys a page of one origin whose server answers under everything. */
async function surveyed(record: Partial<HttpsRecord>, altSvc = '') {
  const { origins } = readPlan(planOf(['https://a.test/']));
  const requests: RoundRequest[] = [];
  const run = async (request: RoundRequest): Promise<RoundReport> => {
    requests.push(request);
    const results = request.transfers.map(({ protocol }, index) => ({
      index,
      protocol,
      code: 0,
      error: '',
      status: 200,
      bytes: 100,
      startMs: 0,
      dnsMs: 1,
      connectMs: 2,
      handshakeMs: 3,
      firstByteMs: 4,
      endMs: 5,
      newConnection: true,
      altSvc,
      remoteIp: '192.0.2.1',
    }));
    return { results, bytes: 100, connections: [], ended: 'whole' };
  };
  const { origins: profiles } = await survey(
    origins.values(),
    ['h2', 'h3'],
    () => ({ ...RECORD, ...record }),
    run,
    {} as Omit<RoundRequest, 'transfers' | 'pageFrom'>,
  );
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
