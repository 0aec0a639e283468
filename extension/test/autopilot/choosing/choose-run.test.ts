import { learnNetwork } from '@hopwise/pageload-emulator';
import { describe, expect, test } from 'vitest';
import { addUnknownOffers, chooseRun } from '../../../src/autopilot/choosing/choose-run.ts';
import { hasChoice, isSuitable } from '../../../src/autopilot/choosing/suitable-load.ts';
import { AUTOPILOT_DEFAULTS } from '../../../src/autopilot/settings/autopilot-settings.ts';
import { findRule, planByRules } from '../../../src/autopilot/settings/site-rules.ts';
import { Visits } from '../../../src/evidence/visit-kind.ts';
import { loadOf, PAGE, requestOf } from '../../evidence/stored-loads.ts';
import { actionOf, decisionOf } from '../../support/decisions.ts';
import { verificationOf } from '../../support/verification.ts';

const A = 'https://a.example';
const B = 'https://b.example';
const settings = { ...AUTOPILOT_DEFAULTS, isOn: true };
const avoid = actionOf('avoid-h3', { [A]: 'h2' });
const hold = actionOf('force-protocol', { [A]: 'h1' });

describe('a run is chosen', () => {
  test('from the decision, with its predicted times', () => {
    expect(chooseRun(decisionOf([avoid]), settings)).toEqual({
      trigger: 'decision',
      pins: [{ origin: A, kind: 'avoid-h3' }],
      predicted: { beforeMs: 4300, afterMs: 2300 },
    });
  });

  // 4300 − 2300 = 2000 ms, which is 46.5% of 4300 ms.
  test.each([
    ['a gain above both floors', {}, true],
    ['a gain below the relative floor', { minGain: 0.47 }, false],
    ['a gain below the absolute floor', { minGainMs: 2001 }, false],
    ['a gain that equals the absolute floor', { minGainMs: 2000 }, true],
  ])('only above both floors: %s', (_words, floors, chosen) => {
    expect(chooseRun(decisionOf([avoid]), { ...settings, ...floors }) !== null).toBe(chosen);
  });

  test('by what later visits take, if they are faster by themselves', () => {
    const decision = decisionOf([avoid]);
    decision.baseline.laterPltMs = 2390;
    expect(chooseRun(decision, settings)).toBeNull();
  });

  test('never from a decision that is not sure', () => {
    expect(chooseRun(decisionOf([avoid], { kind: 'unsure' }), settings)).toBeNull();
    expect(chooseRun(decisionOf([]), settings)).toBeNull();
  });

  test('with a proxy that terminates TLS only where that is allowed', () => {
    const decision = decisionOf([hold, avoid]);
    expect(chooseRun(decision, settings)?.pins).toEqual([{ origin: A, kind: 'avoid-h3' }]);
    const allowed = { ...settings, holdsProtocols: true };
    expect(chooseRun(decision, allowed)?.pins).toEqual([{ origin: A, kind: 'h1' }]);
  });

  test('for all origins of an action or none', () => {
    const both = decisionOf([actionOf('avoid-h3', { [A]: 'h2', 'https://localhost': 'h2' })]);
    expect(chooseRun(both, settings)).toBeNull();
    const ruled = { ...settings, siteRules: [{ site: 'b.example', rule: 'h2' as const }] };
    const two = decisionOf([actionOf('avoid-h3', { [A]: 'h2', [B]: 'h2' })]);
    expect(chooseRun(two, ruled)).toBeNull();
    expect(chooseRun(two, settings)?.pins).toHaveLength(2);
  });
});

test('origins of unknown offers are also kept off HTTP/3', () => {
  const run = chooseRun(decisionOf([avoid]), settings)!;
  const requests = [
    requestOf(0, { url: `${A}/`, offersH3: true }),
    requestOf(1, { url: `${B}/1` }),
    requestOf(2, { url: 'http://c.example/' }),
    requestOf(3, { url: 'https://192.168.1.1/' }),
    requestOf(4, { url: 'https://d.example/', offersH3: false }),
    requestOf(5, { url: 'https://bank.example/pixel.gif', bodyBytes: 43 }),
    // What was requested later shows it, as where listening began amid the load.
    requestOf(6, { url: 'https://e.example/early.js' }),
    requestOf(7, { url: 'https://e.example/late.js', offersH3: false }),
    requestOf(8, { url: 'https://bank.example/unknown.gif', bodyBytes: null }),
  ];
  const load = loadOf(1, { recording: { requests } });
  const originsOf = (planned: typeof run) => planned.pins.map(({ origin }) => origin);
  expect(originsOf(addUnknownOffers(run, load, settings))).toEqual([A, B]);
  const ruled = { ...settings, siteRules: [{ site: 'b.example', rule: 'leave' as const }] };
  expect(originsOf(addUnknownOffers(run, load, ruled))).toEqual([A]);
  const held = { ...run, pins: [{ origin: A, kind: 'h1' as const }] };
  expect(addUnknownOffers(held, load, settings)).toBe(held);
});

describe('a load is suitable', () => {
  const locals = ['https://page.test'];
  const local = { requests: [requestOf(0, { remoteIp: '192.168.1.1' })] };
  test.each([
    ['a page of the internet', loadOf(1), [], true],
    ['a page over http', loadOf(1, { recording: { url: 'http://page.test/' } }), [], false],
    ['a page with www before its name', loadOf(1, { requestedUrl: 'https://www.page.test/' }), [], true],
    ['a redirect to a login page', loadOf(1, { requestedUrl: 'https://news.example/' }), [], false],
    ['a page of the local network', loadOf(1, { recording: local }), [], false],
    ['a local page that the user allows', loadOf(1, { recording: local }), locals, true],
    [
      'an error page of a network that demands a login (RFC 6585)',
      loadOf(1, { recording: { requests: [requestOf(0, { status: 511 })] } }),
      [],
      false,
    ],
  ])('%s', (_words, load, localOrigins, suitable) => {
    expect(isSuitable(load, localOrigins)).toBe(suitable);
  });

  const clusterOf = (policed: number, blocked = 0) => ({
    ...learnNetwork(null, loadOf(1).recording),
    udp: { open: 1 - policed - blocked, policed, blocked },
  });
  const OVER_H3 = { requests: [requestOf(0), requestOf(1, { protocol: 'h3' })] };

  const NO_VISITS = new Visits([]);

  test('there is a choice only where HTTP/3 is offered or used, or protocols may be held', () => {
    const withRequest = (more: Parameters<typeof requestOf>[1]) =>
      loadOf(1, { recording: { requests: [requestOf(0), requestOf(1, more)] } });
    expect(hasChoice(withRequest({}), settings, null, NO_VISITS)).toBe(false);
    expect(hasChoice(withRequest({ protocol: 'h3' }), settings, null, NO_VISITS)).toBe(true);
    expect(hasChoice(withRequest({ offersH3: true }), settings, null, NO_VISITS)).toBe(true);
    expect(hasChoice(withRequest({}), { ...settings, holdsProtocols: true }, null, NO_VISITS)).toBe(true);
    const hidden = withRequest({ protocol: null });
    expect(hasChoice(hidden, settings, null, NO_VISITS)).toBe(false);
    expect(hasChoice(hidden, settings, null, new Visits([withRequest({ protocol: 'h3' })]))).toBe(true);
  });

  test('where nothing suggests that UDP is held back there is none, unless something is to be found out', () => {
    const load = loadOf(1, { recording: OVER_H3 });
    expect(hasChoice(load, settings, clusterOf(0.5), NO_VISITS)).toBe(true);
    // As where nothing is known of the network.
    const plain = clusterOf(0.06);
    expect(hasChoice(load, settings, plain, NO_VISITS)).toBe(false);
    expect(hasChoice(load, settings, clusterOf(0.03, 0.9), NO_VISITS)).toBe(false);
    expect(hasChoice(load, { ...settings, explores: true }, plain, NO_VISITS)).toBe(true);
    expect(hasChoice({ ...load, verification: verificationOf() }, settings, plain, NO_VISITS)).toBe(true);
  });

  test.each([
    [{ kind: 'policed', bps: 1e6 }, 0.06, true],
    [{ kind: 'open' }, 0.9, false],
    [{ kind: 'blocked' }, 0.9, false],
    [{ kind: 'unblocked' }, 0.06, false],
    [{ kind: 'unblocked' }, 0.9, true],
  ] as const)('a check that found UDP %o counts before what loads suggest: %f', (udp, policed, expected) => {
    const checked = loadOf(1, { recording: OVER_H3, check: { udp } });
    expect(hasChoice(checked, settings, clusterOf(policed), NO_VISITS)).toBe(expected);
  });
});

describe('rules for sites', () => {
  const rules = [
    { site: 'page.test', rule: 'avoid-h3' as const },
    { site: 'cdn.page.test', rule: 'leave' as const },
    { site: 'api.page.test', rule: 'h1' as const },
  ];

  test('hold for subdomains; the most specific one wins', () => {
    expect(findRule('https://www.page.test/a', rules)).toBe('avoid-h3');
    expect(findRule('https://img.cdn.page.test/a', rules)).toBe('leave');
    expect(findRule('https://otherpage.test/', rules)).toBeNull();
  });

  test('pin the origins of a load that can be pinned', () => {
    const urls = [PAGE, 'https://cdn.page.test/a', 'https://api.page.test/b', 'http://page.test/c', `${B}/d`];
    const requests = urls.map((url, id) => requestOf(id, { url }));
    expect(planByRules({ requests }, rules)).toEqual([
      { origin: 'https://page.test', kind: 'avoid-h3' },
      { origin: 'https://api.page.test', kind: 'h1' },
    ]);
  });
});
