import type { PinState } from '@hopwise/contract';
import { Window } from 'happy-dom';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { PageRequest } from '../../../src/background/page-requests.ts';
import { compareLoads } from '../../../src/evidence/pin-outcomes.ts';
import { PinsModel } from '../../../src/pins/page/pins-model.ts';
import { UndoControl } from '../../../src/pins/page/undo-control.ts';

const [A, B, ELSEWHERE] = ['https://a.example', 'https://b.example', 'https://elsewhere.example'];
let pins: PinState[];
/** Origin whose pin the helper does not remove. */
let kept: string;

beforeEach(() => {
  vi.useFakeTimers();
  kept = '';
  pins = [A, B, ELSEWHERE].map((origin) => ({
    origin,
    kind: 'avoid-h3',
    persistent: false,
    state: 'active',
    expiresAtMs: null,
    reason: '',
  }));
  vi.stubGlobal('document', new Window().document);
  vi.stubGlobal('chrome', {
    runtime: {
      sendMessage: async (request: PageRequest) => {
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

async function shown(gain: Parameters<UndoControl['show']>[1] = null, origins = [A, B]) {
  const control = new UndoControl(new PinsModel());
  const { element } = control;
  control.show(origins, gain);
  await vi.advanceTimersByTimeAsync(10);
  const button = element.querySelector('button')!;
  const click = async () => {
    button.click();
    await vi.advanceTimersByTimeAsync(10);
  };
  return { element, button, click };
}

test('one click removes all pins of the page, and those of no other', async () => {
  const { element, button, click } = await shown();
  expect(button.textContent).toBe('Undo');
  expect(element.textContent).toContain('This page has 2 pins.');
  await click();
  expect(pins.map(({ origin }) => origin)).toEqual([ELSEWHERE]);
  expect(element.hidden).toBe(true);
});

test('nothing is shown for a page without pins', async () => {
  expect((await shown(null, ['https://c.example'])).element.hidden).toBe(true);
});

test.each([
  [[1000], [2000], 'Lift these pins'],
  [[1000, 1000, 1000], [1000, 1000, 1000], 'Lift these pins'],
  [[2000], [1000], 'Undo'],
  [[1000], [1000], 'Undo'],
])('after loads of %j and %j ms the button is “%s”', async (before, after, words) => {
  const { button } = await shown(compareLoads(before, after));
  expect(button.textContent).toBe(words);
  expect(button.classList.contains('hw-button-primary')).toBe(words !== 'Undo');
});

test('a pin that could not be removed keeps the button, with the reason', async () => {
  kept = B;
  const { element, click } = await shown();
  await click();
  expect(element.textContent).toContain('This page has 1 pin.');
  expect(element.querySelector('[role=status]')!.textContent).toBe('The helper has ended.');
});
