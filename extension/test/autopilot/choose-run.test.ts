import { describe, expect, test } from 'vitest';
import { AUTOPILOT_DEFAULTS } from '../../src/autopilot/autopilot-settings.ts';
import { chooseAct } from '../../src/autopilot/choose-act.ts';
import { findRule, planByRules } from '../../src/autopilot/site-rules.ts';
import { hasChoice, isSuitable } from '../../src/autopilot/suitable-load.ts';
import { actionOf, decisionOf } from '../decisions.ts';
import { loadOf, PAGE, requestOf } from '../evidence/stored-loads.ts';

const A = 'https://a.example';
const B = 'https://b.example';
const settings = { ...AUTOPILOT_DEFAULTS, isOn: true };
const avoid = actionOf('avoid-h3', { [A]: 'h2' });
const hold = actionOf('hold', { [A]: 'h1' });

describe('an act is chosen', () => {
  test('from the decision, with its predicted times', () => {
    expect(chooseAct(decisionOf([avoid]), settings)).toEqual({
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
    expect(chooseAct(decisionOf([avoid]), { ...settings, ...floors }) !== null).toBe(chosen);
  });

  test('by what later visits take, if they are faster by themselves', () => {
    const decision = decisionOf([avoid]);
    decision.baseline.laterPltMs = 2390;
    expect(chooseAct(decision, settings)).toBeNull();
  });

  test('never from a decision that is not sure', () => {
    expect(chooseAct(decisionOf([avoid], { kind: 'unsure' }), settings)).toBeNull();
    expect(chooseAct(decisionOf([]), settings)).toBeNull();
  });

  test('with a proxy that terminates TLS only where that is allowed', () => {
    const decision = decisionOf([hold, avoid]);
    expect(chooseAct(decision, settings)?.pins).toEqual([{ origin: A, kind: 'avoid-h3' }]);
    const allowed = { ...settings, holdsProtocols: true };
    expect(chooseAct(decision, allowed)?.pins).toEqual([{ origin: A, kind: 'h1' }]);
  });

  test('for all origins of an action or none', () => {
    const both = decisionOf([actionOf('avoid-h3', { [A]: 'h2', 'https://localhost': 'h2' })]);
    expect(chooseAct(both, settings)).toBeNull();
    const ruled = { ...settings, siteRules: [{ site: 'b.example', rule: 'h2' as const }] };
    const two = decisionOf([actionOf('avoid-h3', { [A]: 'h2', [B]: 'h2' })]);
    expect(chooseAct(two, ruled)).toBeNull();
    expect(chooseAct(two, settings)?.pins).toHaveLength(2);
  });
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

  test('there is a choice only where HTTP/3 is offered or used, or protocols may be held', () => {
    const withRequest = (more: Parameters<typeof requestOf>[1]) =>
      loadOf(1, { recording: { requests: [requestOf(0), requestOf(1, more)] } });
    expect(hasChoice(withRequest({}), settings)).toBe(false);
    expect(hasChoice(withRequest({ protocol: 'h3' }), settings)).toBe(true);
    expect(hasChoice(withRequest({ offersH3: true }), settings)).toBe(true);
    expect(hasChoice(withRequest({}), { ...settings, holdsProtocols: true })).toBe(true);
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
