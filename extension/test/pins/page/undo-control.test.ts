import type { PinState } from '@hopwise/contract';
import { Window } from 'happy-dom';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { PageRequest } from '../../../src/background/page-requests.ts';
import { compareLoads } from '../../../src/evidence/pin-outcomes.ts';
import { PinsModel } from '../../../src/pins/page/pins-model.ts';
import { UndoControl } from '../../../src/pins/page/undo-control.ts';

const [A, B, ELSEWHERE] = ['https://a.example', 'https://b.example', 'https://elsewhere.example'];
const PIN: PinState = {
  origin: A,
  kind: 'avoid-h3',
  persistent: false,
  state: 'active',
  expiresAtMs: null,
  reason: '',
};
let pins: PinState[];
let reloads: number;
/** Origin whose pin the helper does not remove. */
let kept: string;

beforeEach(() => {
  vi.useFakeTimers();
  kept = '';
  reloads = 0;
  pins = [A, B, ELSEWHERE].map((origin) => ({ ...PIN, origin }));
  vi.stubGlobal('document', new Window().document);
  vi.stubGlobal('chrome', {
    runtime: {
      sendMessage: async (request: PageRequest) => {
        if (request.type === 'pin') pins = [...pins, ...request.pins.map((pin) => ({ ...PIN, ...pin }))];
        if (request.type === 'unpin') {
          pins = pins.filter(({ origin }) => origin === kept || !request.origins.includes(origin));
          if (request.origins.includes(kept)) return { ok: false, error: 'The helper has ended.' };
        }
        return { ok: true, allowed: true, pins, caHosts: null, launcher: null, localOrigins: [] };
      },
    },
  });
});

afterEach(() => {
  vi.clearAllTimers();
  vi.useRealTimers();
});

const isShown = (element: Element) => !(element as HTMLElement).hidden && element.textContent !== '';

async function shown(gain: Parameters<UndoControl['show']>[1] = null, origins = [A, B]) {
  const control = new UndoControl(new PinsModel(), async () => {
    reloads += 1;
  });
  const { element } = control;
  control.show(origins, gain);
  await vi.advanceTimersByTimeAsync(10);
  const button = element.querySelector('button')!;
  const click = async () => {
    button.click();
    await vi.advanceTimersByTimeAsync(10);
  };
  const texts = () => [...element.children].filter(isShown).map(({ textContent }) => textContent);
  return { control, element, button, click, texts };
}

test('one click removes all pins of the page, and those of no other, reloads, and offers to make them again', async () => {
  const { control, element, click, texts } = await shown();
  expect(texts()).toEqual(['Undo', 'On for 2 servers until the browser is closed.']);
  await click();
  expect(pins.map(({ origin }) => origin)).toEqual([ELSEWHERE]);
  expect(texts()).toEqual(['Undone. This page loads without hopwise.', 'Make it faster again']);
  expect(reloads).toBe(1);
  // While the page loads.
  control.show([], null);
  expect(texts()).toHaveLength(2);
  element.querySelectorAll('button')[1]!.click();
  await vi.advanceTimersByTimeAsync(10);
  expect(pins.map(({ origin }) => origin)).toEqual([ELSEWHERE, A, B]);
  expect(reloads).toBe(2);
  control.show([A, B], null);
  expect(texts()).toEqual(['Undo', 'On for 2 servers until the browser is closed.']);
});

test('a click says at once what is done', async () => {
  const { button, texts } = await shown();
  button.click();
  expect(texts()).toContain('Undoing …');
});

test('what is undone is offered by one button only, and not on another page', async () => {
  const { control, click, texts, element } = await shown();
  await click();
  control.show([A, B], null, true);
  expect(texts()).toEqual(['Undone. This page loads without hopwise.']);
  control.show(['https://c.example'], null);
  expect(element.hidden).toBe(true);
});

test('the earliest end of several pins is stated', async () => {
  vi.setSystemTime('2026-11-20T06:00:00Z');
  const end = Date.parse('2026-11-20T09:04:00Z');
  pins = pins.map((pin, index) => ({ ...pin, expiresAtMs: end + index * 60_000 }));
  const time = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' }).format(end);
  const { texts } = await shown();
  expect(texts()).toContain(`On for 2 servers until ${time}, or until the browser is closed.`);
  pins = pins.map((pin) => ({ ...pin, persistent: true }));
  expect((await shown()).texts()).toContain(`On for 2 servers until ${time}.`);
});

test('nothing is shown for a page without pins', async () => {
  expect((await shown(null, ['https://c.example'])).element.hidden).toBe(true);
});

test.each([
  [[1000], [2000], true],
  [[1000, 1000, 1000], [1000, 1000, 1000], true],
  [[2000], [1000], false],
  [[1000], [1000], false],
])('after loads of %j and %j ms it is the thing to do: %j', async (before, after, isMain) => {
  const { button } = await shown(compareLoads(before, after));
  expect(button.hidden).toBe(false);
  expect(button.classList.contains('hw-button-primary')).toBe(isMain);
});

test('after one load that was slower it is offered, but not the thing to do', async () => {
  const { button } = await shown({ ...compareLoads([1000], [2000]), effect: 'slower-once' });
  expect(button.hidden).toBe(false);
  expect(button.classList.contains('hw-button-primary')).toBe(false);
});

test('a pin that could not be removed keeps the button, with the reason', async () => {
  kept = B;
  const { element, click } = await shown();
  await click();
  expect(element.textContent).toContain('On for 1 server until');
  expect(reloads).toBe(0);
  expect(element.querySelector('[role=status]')!.textContent).toBe('The helper has ended.');
});

test('pins that are made after the shown load are said to be on from the next one', async () => {
  const { control, texts } = await shown();
  control.show([A, B], null, false, {});
  expect(texts()).toEqual(['Undo', 'On for 2 servers from the next load, until the browser is closed.']);
  // Where one was there before, the load shows something of them.
  control.show([A, B], null, false, { [A]: 'h2' });
  expect(texts()).toEqual(['Undo', 'On for 2 servers until the browser is closed.']);
});

test('pins that all wait are not said to be on', async () => {
  pins = pins.map((pin) => ({ ...pin, state: 'waiting' }));
  expect((await shown()).texts()).toEqual(['Undo', 'Prepared for 2 servers until the browser is closed.']);
  pins = pins.map((pin) => (pin.origin === A ? { ...pin, state: 'active' } : pin));
  expect((await shown()).texts()).toEqual(['Undo', 'On for 2 servers until the browser is closed.']);
});
