import type { PinState } from '@hopwise/native-host/messages';
import type { OriginRecommendation } from '@hopwise/pageload-emulator';
import { Window } from 'happy-dom';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { PinsControl } from '../../src/controls/pins-control.ts';
import type { PageRequest } from '../../src/messages/page-messages.ts';
import { pinInWords } from '../../src/views/pins.ts';

const A = 'https://a.example';
let allowed: boolean;
let pins: PinState[];
let asked: PageRequest[];
let refusal: string;

const pin = (change: Partial<PinState> = {}): PinState => ({
  origin: A,
  kind: 'avoid-h3',
  expiresAtMs: null,
  persistent: false,
  state: 'active',
  reason: '',
  ...change,
});
const recommended = (change: Partial<OriginRecommendation> = {}) =>
  ({
    origin: A,
    protocol: 'h2',
    decided: true,
    pltMs: { h2: 100, h3: 130 },
    ...change,
  }) as OriginRecommendation;

beforeEach(() => {
  vi.useFakeTimers();
  allowed = true;
  pins = [];
  asked = [];
  refusal = '';
  vi.stubGlobal('document', new Window().document);
  vi.stubGlobal('chrome', {
    runtime: {
      getManifest: () => ({ optional_permissions: ['browsingData'] }),
      sendMessage: async (request: PageRequest) => {
        if (request.type !== 'pins') asked.push(request);
        if (request.type === 'pin' && refusal !== '') return { ok: false, error: refusal };
        if (request.type === 'pin') pins = [pin({ origin: request.origin })];
        if (request.type === 'unpin') pins = [];
        return { ok: true, allowed, pins };
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

async function shown(origin: OriginRecommendation) {
  const control = new PinsControl();
  const action = control.actionFor(origin);
  await vi.advanceTimersByTimeAsync(10);
  const buttons = (inside: Element) =>
    [...inside.querySelectorAll('button')]
      .filter((one) => !one.closest('[hidden]'))
      .map((one) => one.textContent);
  const click = async (words: string) => {
    const all = [
      ...(action?.querySelectorAll('button') ?? []),
      ...control.element.querySelectorAll('button'),
    ];
    all.find((one) => one.textContent === words)!.click();
    await vi.advanceTimersByTimeAsync(10);
  };
  return { control, action, buttons, click };
}

test('keeps an origin off HTTP/3 for the time chosen, and lets it go again', async () => {
  const { control, action, buttons, click } = await shown(recommended());
  expect(buttons(action!)).toEqual(['Keep off HTTP/3']);
  await click('Keep off HTTP/3');
  expect(buttons(action!)).toEqual(['Kept off HTTP/3: lift']);
  expect(control.element.querySelector('li')!.textContent).toContain('is kept off HTTP/3');
  await click('Lift');
  expect(buttons(action!)).toEqual(['Keep off HTTP/3']);
  control.element.querySelector('select')!.value = '3';
  await click('Keep off HTTP/3');
  expect(asked).toEqual([
    { type: 'pin', origin: A, kind: 'avoid-h3', minutes: 480, persistent: false },
    { type: 'unpin', origin: A },
    { type: 'pin', origin: A, kind: 'avoid-h3', minutes: null, persistent: true },
  ]);
});

test.each([
  ['HTTP/3 is best', { protocol: 'h3' as const }],
  ['nothing is decided', { decided: false }],
  ['HTTP/3 was not tried', { pltMs: { h1: 130, h2: 100 } }],
  ['it is not https', { origin: 'http://a.example' }],
])('offers nothing where %s', async (_name, change) => {
  expect((await shown(recommended(change))).action).toBeNull();
});

test('offers no pins before they are allowed, and says what for', async () => {
  allowed = false;
  const { control, action, buttons, click } = await shown(recommended());
  expect(buttons(action!)).toEqual([]);
  expect(buttons(control.element)).toEqual(['Allow pins']);
  expect(control.element.textContent).toContain('the helper cannot read them');
  await click('Allow pins');
  expect(buttons(control.element)).toEqual([]);
  expect(buttons(action!)).toEqual(['Keep off HTTP/3']);
});

test('says why a pin was refused', async () => {
  refusal = 'Another extension has the proxy settings.';
  const { control, action, buttons, click } = await shown(recommended());
  await click('Keep off HTTP/3');
  expect(control.element.querySelector('[role=status]')!.textContent).toBe(refusal);
  expect(buttons(action!)).toEqual(['Keep off HTTP/3']);
});

test('shows within a second that a pin was lifted, and why', async () => {
  pins = [pin()];
  const { control, click } = await shown(recommended());
  pins = [pin({ state: 'lifted', reason: '<b>the helper stopped</b>' })];
  await vi.advanceTimersByTimeAsync(1000);
  const item = control.element.querySelector('li')!;
  expect(item.textContent).toContain('a.example may use HTTP/3 again: <b>the helper stopped</b>');
  await click('Dismiss');
  expect(asked).toEqual([{ type: 'unpin', origin: A }]);
  expect(control.element.querySelectorAll('li')).toHaveLength(0);
});

const NOW = new Date(2026, 10, 22, 12, 30).getTime();

test.each([
  [{}, 'a.example is kept off HTTP/3 until the browser is closed.'],
  [{ persistent: true }, 'a.example is kept off HTTP/3 until you lift it.'],
  [
    { expiresAtMs: NOW + 3_600_000 },
    'a.example is kept off HTTP/3 until 13:30, or until the browser is closed.',
  ],
  [
    { expiresAtMs: NOW + 3 * 86_400_000, persistent: true },
    'a.example is kept off HTTP/3 until Wed 25 Nov, 12:30.',
  ],
  [{ kind: 'h1' as const, persistent: true }, 'a.example is held to HTTP/1.1 until you lift it.'],
  [{ state: 'lifted' as const }, 'a.example may use HTTP/3 again.'],
  [
    { kind: 'h3' as const, state: 'lifted' as const, reason: 'it refused HTTP/3' },
    'a.example is no longer held to HTTP/3: it refused HTTP/3',
  ],
])('%j in words', (change, words) => {
  expect(pinInWords(pin(change), NOW)).toBe(words);
});
