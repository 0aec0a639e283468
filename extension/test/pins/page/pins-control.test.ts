import { type Decision, EVERY_ORIGIN, type PinState, type Protocol } from '@hopwise/contract';
import { Window } from 'happy-dom';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { PageRequest } from '../../../src/background/page-requests.ts';
import type { PinOutcome } from '../../../src/evidence/pin-outcomes.ts';
import { english } from '../../../src/language/english.ts';
import { german } from '../../../src/language/german.ts';
import { useLanguage } from '../../../src/language/translate.ts';
import { describeOutcome, describePin } from '../../../src/pins/page/pin-text.ts';
import { PinsControl } from '../../../src/pins/page/pins-control.ts';
import { PinsModel } from '../../../src/pins/page/pins-model.ts';
import { actionOf, decisionOf, LEAVE } from '../../support/decisions.ts';

const A = 'https://a.example';
const B = 'https://b.example';
const LAUNCHER = '/usr/bin/hopwise-host';
let allowed: boolean;
let pins: PinState[];
let asked: PageRequest[];
let refusal: string;
let outcomes: PinOutcome[];
let caHosts: string[] | null;
/** The helper's answer to a fresh request: hosts, or an error message. */
let caHostsAtHelper: string[] | string;

const pin = (change: Partial<PinState> = {}): PinState => ({
  origin: A,
  kind: 'avoid-h3',
  expiresAtMs: null,
  persistent: false,
  state: 'active',
  reason: '',
  ...change,
});
const outcome: PinOutcome = {
  origin: A,
  kind: 'avoid-h3',
  beforeMs: 4300,
  afterMs: 2300,
  beforeLoads: 3,
  afterLoads: 2,
  savedMs: { low: 1600, high: 2400 },
  effect: 'gains',
};
const avoidable = (origin = A) => decisionOf([actionOf('avoid-h3', { [origin]: 'h2' })]);
const holdable = (protocol: Protocol) => decisionOf([actionOf('force-protocol', { [A]: protocol })]);

beforeEach(() => {
  vi.useFakeTimers();
  allowed = true;
  pins = [];
  asked = [];
  refusal = '';
  outcomes = [];
  caHosts = null;
  caHostsAtHelper = [];
  const window = new Window();
  vi.stubGlobal('document', window.document);
  vi.stubGlobal('Event', window.Event);
  vi.stubGlobal('chrome', {
    runtime: {
      getManifest: () => ({ optional_permissions: ['browsingData'] }),
      sendMessage: async (request: PageRequest) => {
        if (request.type === 'pin-outcomes') return { ok: true, outcomes };
        if (request.type !== 'pins') asked.push(request);
        if (request.type === 'pins' && request.fresh) {
          asked.push(request);
          if (typeof caHostsAtHelper === 'string') return { ok: false, error: caHostsAtHelper };
          caHosts = caHostsAtHelper;
        }
        if (request.type === 'pin' && refusal !== '') return { ok: false, error: refusal };
        if (request.type === 'pin') pins = request.pins.map(pin);
        if (request.type === 'unpin') pins = pins.filter(({ origin }) => !request.origins.includes(origin));
        return { ok: true, allowed, pins, caHosts, launcher: caHosts && LAUNCHER };
      },
    },
    permissions: {
      request: async () => {
        allowed = true;
        return true;
      },
    },
  });
});

afterEach(() => {
  vi.clearAllTimers();
  vi.useRealTimers();
});

async function shown(decision: Decision, origin = A) {
  const model = new PinsModel();
  const control = new PinsControl(model);
  const action = control.renderAction(origin, decision);
  document.body.replaceChildren(control.lifted, control.element, action ?? '');
  await vi.advanceTimersByTimeAsync(10);
  const buttons = (inside: Element) =>
    [...inside.querySelectorAll('button')]
      .filter((one) => !one.closest('[hidden]'))
      .map((one) => one.textContent);
  const click = async (words: string) => {
    const all = [
      ...(action?.querySelectorAll('button') ?? []),
      ...control.lifted.querySelectorAll('button'),
      ...control.element.querySelectorAll('button'),
    ];
    all.find((one) => one.textContent === words)!.click();
    await vi.advanceTimersByTimeAsync(10);
  };
  return { control, model, action, buttons, click };
}

test('makes an origin avoid HTTP/3 for the chosen time, and removes the pin again', async () => {
  const { control, action, buttons, click } = await shown(avoidable());
  expect(buttons(action!)).toEqual(['Avoid HTTP/3']);
  await click('Avoid HTTP/3');
  expect(buttons(action!)).toEqual(['Avoids HTTP/3: remove pin']);
  expect(control.element.querySelector('li')!.textContent).toContain('avoids HTTP/3');
  await click('Remove');
  expect(buttons(action!)).toEqual(['Avoid HTTP/3']);
  const select = control.element.querySelector('select')!;
  select.value = '3';
  select.dispatchEvent(new Event('change'));
  await click('Avoid HTTP/3');
  expect(asked.filter(({ type }) => type !== 'pins')).toEqual([
    { type: 'pin', pins: [{ origin: A, kind: 'avoid-h3' }], minutes: 480, persistent: false },
    { type: 'unpin', origins: [A] },
    { type: 'pin', pins: [{ origin: A, kind: 'avoid-h3' }], minutes: null, persistent: true },
  ]);
});

test.each([
  ['the answer is to leave it', decisionOf([LEAVE]), A],
  ['it is not https', avoidable('http://a.example'), 'http://a.example'],
  ['its name is not one that a command may contain', avoidable('https://a;b.example'), 'https://a;b.example'],
])('offers no pin when %s', async (_name, decision, origin) => {
  expect((await shown(decision, origin)).action).toBeNull();
});

test('offers no pins of single origins before pins are allowed', async () => {
  allowed = false;
  const { model, action, buttons } = await shown(avoidable());
  expect(buttons(action!)).toEqual([]);
  expect(await model.allow()).toBe('');
  expect(buttons(action!)).toEqual(['Avoid HTTP/3']);
});

test('offers to keep no single origin off HTTP/3 where the whole network is', async () => {
  pins = [pin({ origin: EVERY_ORIGIN })];
  const { control, action, buttons } = await shown(avoidable());
  expect(buttons(action!)).toEqual([]);
  expect(control.element.querySelector<HTMLElement>('select')!.closest('[hidden]')).not.toBeNull();
});

test('states what a pin gained, and offers to lift one that gained nothing', async () => {
  pins = [pin()];
  outcomes = [outcome];
  const { control, click } = await shown(avoidable());
  const item = () => control.element.querySelector('li')!;
  control.resetOrigins(1);
  await vi.advanceTimersByTimeAsync(10);
  expect(item().textContent).toContain(
    '4.3\u00a0s\u00a0→\u00a02.3\u00a0s, measured over 3 loads before and 2 after: it saves',
  );
  expect(item().querySelector('button')!.textContent).toBe('Remove');
  outcomes = [{ ...outcome, afterMs: 4350, effect: 'nothing' }];
  control.resetOrigins(2);
  await vi.advanceTimersByTimeAsync(10);
  expect(item().textContent).toContain('it gains nothing.');
  await click('Lift this pin');
  expect(asked.at(-1)).toEqual({ type: 'unpin', origins: [A] });
});

test('pins of which the same can be said are listed and removed together', async () => {
  pins = [pin(), pin({ origin: B }), pin({ origin: 'https://c.example', kind: 'h1' })];
  const { control, click } = await shown(avoidable());
  const items = () => [...control.element.querySelectorAll('li')].map((one) => one.textContent);
  expect(items()).toEqual([
    '2 origins avoid HTTP/3 until the browser is closed.a.example, b.example Remove all',
    'c.example is pinned to HTTP/1.1 until the browser is closed. Remove',
  ]);
  outcomes = [outcome];
  control.resetOrigins(1);
  await vi.advanceTimersByTimeAsync(10);
  expect(items()).toHaveLength(3);
  outcomes = [outcome, { ...outcome, origin: B }];
  control.resetOrigins(2);
  await vi.advanceTimersByTimeAsync(10);
  expect(items()).toHaveLength(2);
  await click('Remove all');
  expect(pins).toMatchObject([{ kind: 'h1' }]);
});

test.each([
  [outcome, '4.3 s → 2.3 s, measured over 3 loads before and 2 after: it saves 1.6 s to 2.4 s.'],
  [
    { ...outcome, afterMs: 5200, savedMs: { low: -1200, high: -600 }, effect: 'harms' as const },
    '4.3 s → 5.2 s, measured over 3 loads before and 2 after: it costs 0.6 s to 1.2 s.',
  ],
  [
    { ...outcome, beforeLoads: 1, afterLoads: 1, effect: 'unclear' as const },
    '4.3 s → 2.3 s, measured over 1 load before and 1 after: too few loads to be sure.',
  ],
  [
    { ...outcome, beforeLoads: 0 },
    'about 4.3 s (estimated) → 2.3 s, measured over 2 loads: it saves 1.6 s to 2.4 s.',
  ],
])('describes the outcome %#', (of, words) => {
  expect(describeOutcome(of).replaceAll('\u00a0', ' ')).toBe(words);
});

test('shows why a pin was refused', async () => {
  refusal = 'Another extension has the proxy settings.';
  const { control, action, buttons, click } = await shown(avoidable());
  await click('Avoid HTTP/3');
  expect(control.element.querySelector('[role=status]')!.textContent).toBe(refusal);
  expect(buttons(action!)).toEqual(['Avoid HTTP/3']);
});

test('shows within a second that a pin ended, and why', async () => {
  pins = [pin()];
  const { control, click } = await shown(avoidable());
  pins = [pin({ state: 'lifted', reason: '<b>the helper stopped</b>' })];
  await vi.advanceTimersByTimeAsync(1000);
  expect(control.element.querySelectorAll('li')).toHaveLength(0);
  const item = control.lifted.querySelector('li')!;
  expect(item.textContent).toContain('a.example may use HTTP/3 again: <b>the helper stopped</b>');
  await click('Dismiss');
  expect(asked.at(-1)).toEqual({ type: 'unpin', origins: [A] });
  expect(control.lifted.hidden).toBe(true);
});

test('pins an origin covered by the CA to its best version', async () => {
  caHostsAtHelper = ['a.example'];
  const { control, action, buttons, click } = await shown(holdable('h1'));
  expect(buttons(action!)).toEqual(['Pin to HTTP/1.1']);
  expect(action!.querySelector('button')!.getAttribute('aria-label')).toBe(`Pin ${A} to HTTP/1.1`);
  await click('Pin to HTTP/1.1');
  expect(asked).toEqual([
    { type: 'pins', fresh: true },
    { type: 'pin', pins: [{ origin: A, kind: 'h1' }], minutes: 480, persistent: false },
  ]);
  expect(buttons(action!)).toEqual(['Pinned to HTTP/1.1: remove pin']);
  pins = [pin({ kind: 'h1', state: 'waiting', reason: 'until it is time' })];
  await vi.advanceTimersByTimeAsync(1000);
  expect(buttons(action!)).toEqual(['Waiting for HTTP/1.1: remove pin']);
  expect(control.element.querySelector('.hw-pin-waiting')!.textContent).toContain(
    'It is waiting until it is time.',
  );
});

test('shows that a waiting pin does not avoid HTTP/3 yet', async () => {
  pins = [pin({ state: 'waiting', reason: 'until it is time' })];
  const { action, buttons } = await shown(avoidable());
  expect(buttons(action!)).toEqual(['Waiting to avoid HTTP/3: remove pin']);
});

test('explains requirements and risks when no CA covers the origin, and creates none', async () => {
  caHostsAtHelper = ['b.example', 'c.example'];
  const { control, action, buttons, click } = await shown(holdable('h3'));
  expect(buttons(action!)).toEqual(['Pin to HTTP/3…']);
  const opener = () => action!.querySelector('button')!;
  expect(opener().getAttribute('aria-expanded')).toBe('false');
  await click('Pin to HTTP/3…');
  expect(opener().getAttribute('aria-expanded')).toBe('true');
  const steps = document.getElementById(opener().getAttribute('aria-controls')!)!;
  expect([...steps.querySelectorAll('code')].map(({ textContent }) => textContent)).toEqual([
    `${LAUNCHER} ca create 'https://a.example' 'https://b.example' 'https://c.example'`,
    `${LAUNCHER} ca trust`,
    `${LAUNCHER} ca remove`,
  ]);
  expect(steps.textContent).toContain('passwords included');
  expect(steps.textContent).toContain('Restart the browser');
  expect(document.activeElement?.textContent).toBe('Pin a.example to HTTP/3');
  await click('Close');
  expect(control.element.querySelector('code')).toBeNull();
  expect(document.activeElement).toBe(opener());
  expect(asked).toEqual([{ type: 'pins', fresh: true }]);
});

test('keeps the explanation open while the same load is shown', async () => {
  const { control, action } = await shown(holdable('h3'));
  control.resetOrigins(1);
  const again = () => control.renderAction(A, holdable('h3'))!;
  action!.replaceWith(again());
  await vi.advanceTimersByTimeAsync(10);
  document.querySelector<HTMLElement>('[aria-expanded]')!.click();
  const steps = () => control.element.querySelector('code');
  expect(steps()).not.toBeNull();
  control.resetOrigins(1);
  again();
  expect(steps()).not.toBeNull();
  control.resetOrigins(2);
  expect(steps()).toBeNull();
});

test('does not mention a CA when a pin without one has the same effect', async () => {
  const both = decisionOf([actionOf('avoid-h3', { [A]: 'h2' }), actionOf('force-protocol', { [A]: 'h2' })]);
  const { action, buttons } = await shown(both);
  expect(buttons(action!)).toEqual(['Avoid HTTP/3']);
  caHostsAtHelper = ['a.example'];
  const { action: coveredByCa } = await shown(both);
  expect(buttons(coveredByCa!)).toEqual(['Avoid HTTP/3', 'Pin to HTTP/2']);
});

test('shows why the helper could not be asked', async () => {
  caHostsAtHelper = 'The helper is not installed.';
  const { control, click } = await shown(holdable('h3'));
  await click('Pin to HTTP/3…');
  expect(control.element.textContent).toContain('The helper is not installed.');
  expect(control.element.querySelector('code')).toBeNull();
});

test('asks the helper only when an offer depends on the answer', async () => {
  await shown(avoidable());
  await vi.advanceTimersByTimeAsync(3000);
  expect(asked).toEqual([]);
});

test('keeps the focus where it was when a button changes', async () => {
  const { action, click } = await shown(avoidable());
  action!.querySelector('button')!.focus();
  await click('Avoid HTTP/3');
  expect(document.activeElement?.textContent).toBe('Avoids HTTP/3: remove pin');
});

const NOW = new Date(2026, 10, 22, 12, 30).getTime();

test.each([
  [{}, 'a.example avoids HTTP/3 until the browser is closed.'],
  [{ persistent: true }, 'a.example avoids HTTP/3 until you remove the pin.'],
  [{ expiresAtMs: NOW + 3_600_000 }, 'a.example avoids HTTP/3 until 13:30, or until the browser is closed.'],
  [
    { expiresAtMs: NOW + 86_400_000 - 60_000 },
    'a.example avoids HTTP/3 until Mon 23 Nov, 12:29, or until the browser is closed.',
  ],
  [
    { expiresAtMs: NOW + 3 * 86_400_000, persistent: true },
    'a.example avoids HTTP/3 until Wed 25 Nov, 12:30.',
  ],
  [{ kind: 'h1' as const, persistent: true }, 'a.example is pinned to HTTP/1.1 until you remove the pin.'],
  [
    { kind: 'h2' as const, state: 'waiting' as const, reason: 'until the origin has answered over HTTP/2' },
    'a.example will be pinned to HTTP/2 until the browser is closed. It is waiting until the origin has answered over HTTP/2.',
  ],
  [
    { kind: 'h2' as const, state: 'waiting' as const, waitsFor: 'trust' as const, reason: 'for trust' },
    'a.example will be pinned to HTTP/2 until the browser is closed. It is waiting until this browser has shown that it trusts the local CA.',
  ],
  [{ origin: EVERY_ORIGIN }, 'HTTP/3 is off on this network until the browser is closed.'],
  [
    { origin: EVERY_ORIGIN, state: 'lifted' as const, reason: 'The helper stopped.' },
    'HTTP/3 is on again on this network: The helper stopped.',
  ],
  [{ state: 'lifted' as const }, 'a.example may use HTTP/3 again.'],
  [
    { kind: 'h3' as const, state: 'lifted' as const, reason: 'it refused HTTP/3' },
    'a.example is no longer pinned to HTTP/3: it refused HTTP/3',
  ],
])('describes %j', (change, words) => {
  expect(describePin(pin(change), NOW)).toBe(words);
});

test.each([
  ['proxy', 'bis der Browser ihn über einen Proxy anfragt, '],
  ['trust', 'bis dieser Browser gezeigt hat, dass er der lokalen CA vertraut.'],
  ['answer', 'bis der Ursprung über diese Version geantwortet hat.'],
] as const)('says in German that a pin waits for the %s', (waitsFor, words) => {
  useLanguage('de', german);
  const described = describePin(pin({ kind: 'h2', state: 'waiting', waitsFor, reason: 'until then' }), NOW);
  useLanguage('en', english);
  expect(described).toContain(
    `a.example wird auf HTTP/2 festgelegt, bis zum Schließen des Browsers. Es wird noch gewartet, ${words}`,
  );
});

test.each([
  [{ persistent: true }, '3 origins avoid HTTP/3 until you remove the pin.'],
  [{ kind: 'h1' as const }, '3 origins are pinned to HTTP/1.1 until the browser is closed.'],
  [
    { state: 'waiting' as const, reason: 'until it is time' },
    '3 origins will avoid HTTP/3 until the browser is closed. They are waiting until it is time.',
  ],
  [{ kind: 'h3' as const, state: 'lifted' as const }, '3 origins are no longer pinned to HTTP/3.'],
])('describes three pins %j', (change, words) => {
  expect(describePin(pin(change), NOW, 3)).toBe(words);
});
