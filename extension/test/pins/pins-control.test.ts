import type { PinState } from '@hopwise/contract';
import type { OriginRecommendation, Protocol } from '@hopwise/pageload-emulator';
import { Window } from 'happy-dom';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { PageRequest } from '../../src/background/page-requests.ts';
import { describePin } from '../../src/pins/page/pin-text.ts';
import { PinsControl } from '../../src/pins/page/pins-control.ts';

const A = 'https://a.example';
// biome-ignore lint/suspicious/noTemplateCurlyInString: it is shell syntax.
const LAUNCHER = '"${XDG_DATA_HOME:-$HOME/.local/share}/hopwise/hopwise-host.sh"';
let allowed: boolean;
let pins: PinState[];
let asked: PageRequest[];
let refusal: string;
let vouched: string[] | null;
/** The helper's answer to a fresh request: hosts, or an error message. */
let vouchedAtHelper: string[] | string;

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
  vouched = null;
  vouchedAtHelper = [];
  vi.stubGlobal('document', new Window().document);
  vi.stubGlobal('chrome', {
    runtime: {
      getManifest: () => ({ optional_permissions: ['browsingData'] }),
      sendMessage: async (request: PageRequest) => {
        if (request.type !== 'pins') asked.push(request);
        if (request.type === 'pins' && request.fresh) {
          asked.push(request);
          if (typeof vouchedAtHelper === 'string') return { ok: false, error: vouchedAtHelper };
          vouched = vouchedAtHelper;
        }
        if (request.type === 'pin' && refusal !== '') return { ok: false, error: refusal };
        if (request.type === 'pin') pins = [pin({ origin: request.origin, kind: request.kind })];
        if (request.type === 'unpin') pins = [];
        return { ok: true, allowed, pins, vouched };
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

async function shown(origin: OriginRecommendation, inUse?: Protocol) {
  const control = new PinsControl();
  const action = control.renderAction(origin, inUse);
  document.body.replaceChildren(control.element, action ?? '');
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

test('makes an origin avoid HTTP/3 for the chosen time, and removes the pin again', async () => {
  const { control, action, buttons, click } = await shown(recommended());
  expect(buttons(action!)).toEqual(['Avoid HTTP/3']);
  await click('Avoid HTTP/3');
  expect(buttons(action!)).toEqual(['Avoids HTTP/3: remove pin']);
  expect(control.element.querySelector('li')!.textContent).toContain('avoids HTTP/3');
  await click('Remove');
  expect(buttons(action!)).toEqual(['Avoid HTTP/3']);
  control.element.querySelector('select')!.value = '3';
  await click('Avoid HTTP/3');
  expect(asked.filter(({ type }) => type !== 'pins')).toEqual([
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
  ['its name is not one that a command may contain', { origin: 'https://a;b.example' }],
])('offers no pin when %s', async (_name, change) => {
  expect((await shown(recommended(change))).action).toBeNull();
});

test('offers no pins before they are allowed, and explains the permissions', async () => {
  allowed = false;
  const { control, action, buttons, click } = await shown(recommended());
  expect(buttons(action!)).toEqual([]);
  expect(buttons(control.element)).toEqual(['Allow pins']);
  expect(control.element.textContent).toContain('the helper cannot read them');
  await click('Allow pins');
  expect(buttons(control.element)).toEqual([]);
  expect(buttons(action!)).toEqual(['Avoid HTTP/3']);
});

test('shows why a pin was refused', async () => {
  refusal = 'Another extension has the proxy settings.';
  const { control, action, buttons, click } = await shown(recommended());
  await click('Avoid HTTP/3');
  expect(control.element.querySelector('[role=status]')!.textContent).toBe(refusal);
  expect(buttons(action!)).toEqual(['Avoid HTTP/3']);
});

test('shows within a second that a pin ended, and why', async () => {
  pins = [pin()];
  const { control, click } = await shown(recommended());
  pins = [pin({ state: 'lifted', reason: '<b>the helper stopped</b>' })];
  await vi.advanceTimersByTimeAsync(1000);
  const item = control.element.querySelector('li')!;
  expect(item.textContent).toContain('a.example may use HTTP/3 again: <b>the helper stopped</b>');
  await click('Dismiss');
  expect(asked.at(-1)).toEqual({ type: 'unpin', origin: A });
  expect(control.element.querySelectorAll('li')).toHaveLength(0);
});

const bestOverH1 = () => recommended({ protocol: 'h1', pltMs: { h1: 90, h2: 100 } });
const bestOverH3 = () => recommended({ protocol: 'h3', pltMs: { h2: 130, h3: 100 } });

test('pins an origin covered by the CA to its best version', async () => {
  vouchedAtHelper = ['a.example'];
  const { control, action, buttons, click } = await shown(bestOverH1(), 'h2');
  expect(buttons(action!)).toEqual(['Pin to HTTP/1.1']);
  expect(action!.querySelector('button')!.getAttribute('aria-label')).toBe(`Pin ${A} to HTTP/1.1`);
  await click('Pin to HTTP/1.1');
  expect(asked).toEqual([
    { type: 'pins', fresh: true },
    { type: 'pin', origin: A, kind: 'h1', minutes: 480, persistent: false },
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
  const { action, buttons } = await shown(recommended());
  expect(buttons(action!)).toEqual(['Waiting to avoid HTTP/3: remove pin']);
});

test('explains requirements and risks when no CA covers the origin, and creates none', async () => {
  vouchedAtHelper = ['b.example', 'c.example'];
  const { control, action, buttons, click } = await shown(bestOverH3(), 'h2');
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
  const { control, action } = await shown(bestOverH3(), 'h2');
  control.resetOrigins(1);
  const again = () => control.renderAction(bestOverH3(), 'h2')!;
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
  const { action, buttons } = await shown(recommended(), 'h3');
  expect(buttons(action!)).toEqual(['Avoid HTTP/3']);
  vouchedAtHelper = ['a.example'];
  const { action: vouchedFor } = await shown(recommended(), 'h3');
  expect(buttons(vouchedFor!)).toEqual(['Avoid HTTP/3', 'Pin to HTTP/2']);
});

test('shows why the helper could not be asked', async () => {
  vouchedAtHelper = 'The helper is not installed.';
  const { control, click } = await shown(bestOverH3(), 'h2');
  await click('Pin to HTTP/3…');
  expect(control.element.textContent).toContain('The helper is not installed.');
});

test('asks the helper only when an offer depends on the answer', async () => {
  await shown(recommended({ pltMs: { h1: 130, h2: 100 } }), 'h2');
  await vi.advanceTimersByTimeAsync(3000);
  expect(asked).toEqual([]);
});

test('keeps the focus where it was when a button changes', async () => {
  const { action, click } = await shown(recommended());
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
    { expiresAtMs: NOW + 3 * 86_400_000, persistent: true },
    'a.example avoids HTTP/3 until Wed 25 Nov, 12:30.',
  ],
  [{ kind: 'h1' as const, persistent: true }, 'a.example is pinned to HTTP/1.1 until you remove the pin.'],
  [
    { kind: 'h2' as const, state: 'waiting' as const, reason: 'until the origin has answered over HTTP/2' },
    'a.example will be pinned to HTTP/2 until the browser is closed. It is waiting until the origin has answered over HTTP/2.',
  ],
  [{ state: 'lifted' as const }, 'a.example may use HTTP/3 again.'],
  [
    { kind: 'h3' as const, state: 'lifted' as const, reason: 'it refused HTTP/3' },
    'a.example is no longer pinned to HTTP/3: it refused HTTP/3',
  ],
])('describes %j', (change, words) => {
  expect(describePin(pin(change), NOW)).toBe(words);
});
