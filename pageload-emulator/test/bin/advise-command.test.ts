import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { showAdvice } from '../../bin/show-advice.ts';
import { chromiumHar } from '../support/hars.ts';
import { hopwise } from '../support/hopwise.ts';

let dir = '';
const file = (name: string) => join(dir, name);

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'hopwise-advise-'));
  writeFileSync(file('page.har'), JSON.stringify(chromiumHar()));
  writeFileSync(file('far.json'), '{"far": {"rttMs": 300, "downMbps": 50, "upMbps": 50, "loss": 0}}');
  writeFileSync(file('wrong.json'), '{"far": {"rttMs": 300}}');
});

afterAll(() => rmSync(dir, { recursive: true }));

function advise(...flags: string[]) {
  return hopwise(['advise', file('page.har'), ...flags]);
}

describe('hopwise advise', () => {
  it('ranks changes and shows their configuration', async () => {
    const { status, stdout } = await advise(
      '--unproven',
      '--networks',
      file('far.json'),
      '--servers',
      'nginx,dns',
    );
    expect(stdout).toMatch(
      /^ +what to do +effort +visits +gain +helps +harms +kept +where\n1 {2}announce HTTP\/3 in/,
    );
    expect(stdout).toContain('Kept: tests in the lab in which such a gain was within 5 points.');
    expect(stdout).not.toContain('--unproven');
    expect(stdout).toContain('      HOST. 3600 IN HTTPS 1 . alpn="h3,h2"\n');
    expect(stdout).toContain('      ssl_early_data on;\n');
    expect(stdout).not.toContain('haproxy');
    expect(status).toBe(0);
  });

  it('prints JSON', async () => {
    const { owned, advice } = JSON.parse((await advise('--unproven', '--own', 'CDN.test', '--json')).stdout);
    expect(owned).toEqual(['https://shop.test', 'https://cdn.test']);
    expect(advice[0]).toMatchObject({ networks: [{ name: 'recorded', gain: advice[0].gain }] });
  });

  it('says which host of --own no page has', async () => {
    const { status, stderr } = await advise('--own', 'cdn.test', '--own', 'cdm.test');
    expect(stderr).toContain(
      '--own: expected a host that a page requests something of, got "cdm.test": it is ignored\n',
    );
    expect(stderr).not.toContain('"cdn.test"');
    expect(status).toBe(0);
  });

  it('says which load is not understood, before what it advises', async () => {
    const har = chromiumHar() as { log: { pages: { pageTimings: object }[] } };
    har.log.pages[0]!.pageTimings = {};
    writeFileSync(file('endless.har'), JSON.stringify(har));
    const words = ['advise', file('endless.har'), '--unproven'];
    expect((await hopwise(words)).stdout).toMatch(
      /^The load of https:\/\/shop\.test\/ is not understood, so that gains there may be wrong: .* no load event/,
    );
    const { misunderstood } = JSON.parse((await hopwise([...words, '--json'])).stdout);
    expect(misunderstood).toEqual([
      { page: 'https://shop.test/', why: expect.stringContaining('no load event') },
    ]);
    expect(JSON.parse((await advise('--json')).stdout).misunderstood).toEqual([]);
  });

  it.each([
    [
      'a server',
      ['--servers', 'apache'],
      /expected some of nginx,caddy,haproxy,kernel,dns with commas alone between them, got "apache"/,
    ],
    [
      'a host',
      ['--own', 'https://a.test'],
      /expected a host such as cdn\.example\.net, got "https:\/\/a\.test"/,
    ],
    [
      'networks',
      ['--networks', 'wrong.json'],
      /wrong\.json: far\.downMbps: expected Mbit\/s from .*got nothing/,
    ],
  ])('names %s that it cannot use and ends with 2', async (_, flags, line) => {
    const { status, stdout, stderr } = await advise(
      ...flags.map((flag) => (/json$/.test(flag) ? file(flag) : flag)),
    );
    expect(stderr.trim().split('\n').at(-1)).toMatch(line);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  });
});

describe('the shown advice', () => {
  it('has the links for the head of each page', () => {
    const shown = showAdvice(
      {
        needsHttps: false,
        owned: ['https://a.test'],
        together: null,
        advice: [
          {
            kind: 'preload',
            effort: 2,
            visit: 'first',
            gain: 0.1,
            helps: 1,
            harms: 0,
            proof: { kept: 1, cells: 3 },
            networks: [],
            origins: [{ origin: 'https://a.test', gain: 0.1 }],
            links: [
              {
                page: 'https://a.test/',
                links: [{ rel: 'preload', href: 'https://b.test/x.js?q="', as: 'script' }],
              },
            ],
          },
        ],
      },
      ['caddy'],
      false,
    );
    expect(shown).toContain(
      'Changes that lab tests have not confirmed are left out; --unproven tries them too.',
    );
    expect(shown).toContain(
      [
        '   https://a.test/:',
        '      <link rel="preload" href="https://b.test/x.js?q=&quot;" as="script">',
        '   caddy:',
        '      header +Link "<URL>; rel=preload; as=TYPE"',
      ].join('\n'),
    );
  });

  it('has the gains by network, and leaves out origins that gain nothing', () => {
    const advice = {
      kind: 'bbr',
      effort: 1,
      visit: 'first',
      gain: 0.1,
      helps: 0.5,
      harms: 0.04,
      proof: { kept: 1, cells: 3 },
      networks: [
        { name: 'lte', gain: 0.22 },
        { name: 'fast', gain: -0.02 },
      ],
      origins: [
        { origin: 'https://a.test', gain: 0.09 },
        { origin: 'https://b.test', gain: 0.004 },
      ],
    } as const;
    const list = { needsHttps: false, owned: ['https://a.test', 'https://b.test'], together: null };
    expect(
      showAdvice(
        { ...list, advice: [{ ...advice, networks: [...advice.networks], origins: [...advice.origins] }] },
        [],
        false,
      ),
    ).toBe(
      [
        '   what to do     effort     visits  gain  helps  harms    kept  where',
        '1  send with BBR  a setting  first    10%    50%     4%  1 of 3  https://a.test (9%)',
        '',
        'Gains are shares of the load time, predicted. Kept: tests in the lab in which such a gain was within 5 points.',
        'Changes that lab tests have not confirmed are left out; --unproven tries them too.',
        'Tried at https://a.test, https://b.test.',
        '',
        'gain on    1',
        'lte      22%',
        'fast     −2%',
        '',
        '1. send with BBR. The setting is for all TCP connections that the machine sends on.',
      ].join('\n'),
    );
    const none = { ...list, advice: [] };
    expect(showAdvice(none, [], true)).toMatch(/^No change at these servers saves 2% or more\. Tried at /);
    expect(showAdvice(none, [], false)).toMatch(/^No change that lab tests have confirmed .*--unproven/);
  });
});
