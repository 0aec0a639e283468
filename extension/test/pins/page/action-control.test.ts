import { EVERY_ORIGIN, type PinState } from '@hopwise/contract';
import { Window } from 'happy-dom';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { PageRequest } from '../../../src/background/page-requests.ts';
import type { Hello } from '../../../src/helper/helper-connection.ts';
import { HelperError } from '../../../src/helper/helper-port.ts';
import { HelperWatch } from '../../../src/helper/helper-watch.ts';
import { ActionControl } from '../../../src/pins/page/action-control.ts';
import { PinsModel } from '../../../src/pins/page/pins-model.ts';
import { actionOf, decisionOf, LEAVE } from '../../support/decisions.ts';

const A = 'https://a.example';
const B = 'https://b.example';
const avoid = decisionOf([actionOf('avoid-h3', { [A]: 'h2', [B]: 'h2' })]);
const hold = decisionOf([actionOf('force-protocol', { [A]: 'h1', [B]: 'h2' })]);
let allowed: boolean;
let pins: PinState[];
let asked: PageRequest[];
let caHosts: string[] | null;
/** Why the worker refuses pins, '' for none. */
let refusal: string;
/** State in which new pins begin. */
let state: PinState['state'];
let grants: boolean;
let answersPins: boolean;
let greet: () => Promise<Hello>;

beforeEach(() => {
  vi.useFakeTimers();
  allowed = false;
  pins = [];
  asked = [];
  caHosts = null;
  refusal = '';
  state = 'active';
  grants = true;
  answersPins = true;
  greet = async () => ({}) as Hello;
  vi.stubGlobal('document', new Window().document);
  vi.stubGlobal('chrome', {
    runtime: {
      getManifest: () => ({ optional_permissions: ['browsingData'] }),
      sendMessage: async (request: PageRequest) => {
        if (request.type === 'pins') {
          if (request.fresh) caHosts ??= [];
          return {
            ok: true,
            allowed,
            pins,
            caHosts,
            launcher: caHosts && '/usr/bin/hopwise-host',
            localOrigins: [],
          };
        }
        asked.push(request);
        if (!answersPins) return new Promise(() => {});
        if (request.type === 'pin') {
          if (refusal !== '') return { ok: false, error: refusal };
          const { pins: wanted, persistent } = request;
          pins = wanted.map((pin) => ({ ...pin, persistent, state, expiresAtMs: null, reason: '' }));
        }
        if (request.type === 'unpin') pins = pins.filter(({ origin }) => !request.origins.includes(origin));
        return {
          ok: true,
          allowed,
          pins,
          caHosts,
          launcher: caHosts && '/usr/bin/hopwise-host',
          localOrigins: [],
        };
      },
    },
    permissions: {
      request: async () => {
        allowed = grants;
        return grants;
      },
    },
  });
});

afterEach(() => {
  vi.clearAllTimers();
  vi.useRealTimers();
});

const textOf = (element: HTMLElement): string =>
  [...element.children]
    .filter((child) => !(child as HTMLElement).hidden && child.tagName !== 'DETAILS')
    .map(({ textContent }) => textContent)
    .join(' ')
    .trim();

async function shown(decision = avoid) {
  const reload = vi.fn(async () => {});
  const control = new ActionControl(new PinsModel(), reload, new HelperWatch(() => greet()));
  document.body.replaceChildren(control.element);
  control.show(decision);
  await vi.advanceTimersByTimeAsync(10);
  const button = () =>
    [...control.element.querySelectorAll('button')].find(
      ({ textContent }) => textContent === 'Make it faster',
    )!;
  const click = async () => {
    button().click();
    await vi.advanceTimersByTimeAsync(10);
  };
  return { control, element: control.element, reload, button, click };
}

const pinning = (kinds: Record<string, string>) => ({
  type: 'pin',
  pins: Object.entries(kinds).map(([origin, kind]) => ({ origin, kind })),
  minutes: 480,
  persistent: false,
});

test('one click asks for permission, makes all pins of the action and reloads the page', async () => {
  const { element, reload, button, click } = await shown();
  expect(textOf(element)).not.toContain('helper.');
  await click();
  expect(asked).toEqual([pinning({ [A]: 'avoid-h3', [B]: 'avoid-h3' })]);
  expect(reload).toHaveBeenCalledOnce();
  expect(button().hidden).toBe(true);
});

test('a popup that is closed midway leaves no part of the pins: one message asks for them all', async () => {
  const { click } = await shown();
  // The answer to a page that is closed arrives nowhere.
  answersPins = false;
  await click();
  expect(asked).toEqual([pinning({ [A]: 'avoid-h3', [B]: 'avoid-h3' })]);
});

test('nothing is pinned without permission', async () => {
  grants = false;
  const { element, reload, click } = await shown();
  await click();
  expect(asked).toEqual([]);
  expect(reload).not.toHaveBeenCalled();
  expect(element.querySelector('[role=status]')!.textContent).toContain('Pins need these permissions');
});

test('when one pin is refused, none is made, and the reason is shown', async () => {
  refusal = 'The helper is not installed.';
  const { element, reload, button, click } = await shown();
  await click();
  expect(asked).toHaveLength(1);
  expect(pins).toEqual([]);
  expect(reload).not.toHaveBeenCalled();
  expect(element.querySelector('[role=status]')!.textContent).toBe(refusal);
  expect(button().hidden).toBe(false);
});

test('pins that exist are not made again', async () => {
  pins = [{ origin: A, kind: 'avoid-h3', persistent: true, state: 'active', expiresAtMs: null, reason: '' }];
  const { click } = await shown();
  await click();
  expect(asked).toEqual([pinning({ [B]: 'avoid-h3' })]);
});

test('what is kept off HTTP/3 on the whole network is not offered again, and another protocol is', async () => {
  pins = [
    {
      origin: EVERY_ORIGIN,
      kind: 'avoid-h3',
      persistent: true,
      state: 'active',
      expiresAtMs: null,
      reason: '',
    },
  ];
  const { control, button } = await shown();
  expect(button().hidden).toBe(true);
  expect(control.isOffered).toBe(false);
  control.show(hold);
  expect(button().hidden).toBe(false);
});

test('without the helper the one button installs it, until it is found', async () => {
  const opened: unknown[] = [];
  Object.assign(chrome, { tabs: { create: async (tab: unknown) => void opened.push(tab) } });
  Object.assign(chrome.runtime, { getURL: (path: string) => path });
  greet = async () => {
    throw new HelperError('no-helper', () => 'not installed');
  };
  const { element } = await shown();
  expect(textOf(element)).toBe('Install the helper Needs the helper, a small program beside the browser.');
  element.querySelector<HTMLElement>('.hw-install')!.click();
  expect(opened).toEqual([{ url: 'welcome.html#helper' }]);
  greet = async () => ({}) as Hello;
  await vi.advanceTimersByTimeAsync(2000);
  expect(textOf(element)).toBe('Make it faster The browser asks for permission once.');
});

test('a click says at once what is done', async () => {
  const { element, button } = await shown();
  button().click();
  expect(element.querySelector('[role=status]')!.textContent).toBe('Pinning…');
});

test('an action that needs the local CA shows how to create it for all hosts', async () => {
  const { element, click } = await shown(hold);
  expect(element.textContent).toContain('Needs the helper’s local CA.');
  await click();
  expect(asked).toEqual([]);
  const [create] = element.querySelectorAll('code');
  expect(create!.textContent).toContain("ca create 'https://a.example' 'https://b.example'");
  expect(element.textContent).toContain('choose “Make it faster”');
});

test('pins that wait for the browser’s trust are waited for before the page is reloaded', async () => {
  caHosts = ['a.example', 'b.example'];
  state = 'waiting';
  const { element, reload, click } = await shown(hold);
  await click();
  expect(asked).toEqual([pinning({ [A]: 'h1', [B]: 'h2' })]);
  expect(element.textContent).toContain('The pins wait until the browser trusts the local CA.');
  expect(reload).not.toHaveBeenCalled();
  pins = pins.map((pin) => ({ ...pin, state: 'active' }));
  await vi.advanceTimersByTimeAsync(1000);
  expect(reload).toHaveBeenCalledOnce();
});

test('origins that cannot be pinned are counted', async () => {
  const some = decisionOf([actionOf('avoid-h3', { [A]: 'h2', 'https://localhost': 'h2' })]);
  expect((await shown(some)).element.textContent).toContain('1 origin cannot be pinned');
});

test.each([
  ['to leave it', decisionOf([LEAVE])],
  ['not sure', decisionOf([LEAVE, actionOf('avoid-h3', { [A]: 'h2' })], { kind: 'unsure' })],
])('there is no button when the answer is %s', async (_words, decision) => {
  expect((await shown(decision)).element.hidden).toBe(true);
});
