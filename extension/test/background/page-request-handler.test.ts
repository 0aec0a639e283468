import type { PinKind } from '@hopwise/contract';
import { beforeEach, expect, test, vi } from 'vitest';
import { Autopilot } from '../../src/autopilot/autopilot.ts';
import { PageRequestHandler } from '../../src/background/page-request-handler.ts';
import { german } from '../../src/language/german.ts';
import { allowLocalOrigin, loadLocalOrigins } from '../../src/pins/worker/local-origins.ts';
import { fetchMessages } from '../support/packaged-messages.ts';
import { PinsInMemory } from '../support/pins-in-memory.ts';
import { StubbedStorage } from '../support/stubbed-storage.ts';
import '../support/own-database.ts';

const LOCAL = 'https://nas.local';

let pins: PinsInMemory;
let handler: PageRequestHandler;
/** What recorded loads lead to. */
let handled: Promise<unknown>;

beforeEach(() => {
  vi.stubGlobal('chrome', {
    i18n: { getUILanguage: () => 'de-DE' },
    permissions: { contains: async () => true },
    runtime: { getURL: (path: string) => path, getManifest: () => ({}) },
    storage: { session: new StubbedStorage() },
  });
  vi.stubGlobal('fetch', fetchMessages);
  handled = Promise.resolve();
  pins = new PinsInMemory();
  const pinManager = {
    caHosts: null,
    launcher: null,
    listPins: () => pins.listPins(),
    unpin: async (origins: readonly string[]) => {
      pins.pins = pins.pins.filter(({ origin }) => !origins.includes(origin));
      return pins.pins;
    },
  };
  // What is absent fails the request that uses it.
  const parts = {
    autopilot: new Autopilot(pins, async (load) => load),
    pins: pinManager,
    resting: { watch: async () => undefined, wakeAll: async () => undefined },
    waitUntilHandled: () => handled,
  };
  handler = new PageRequestHandler(parts as unknown as ConstructorParameters<typeof PageRequestHandler>[0]);
});

const pinLocal = (kind: PinKind, allowLocal: boolean) =>
  pins.pins.push({
    ...{ origin: LOCAL, kind, allowLocal },
    ...{ persistent: false, expiresAtMs: null, state: 'active', reason: '' },
  });

test('what is no request is refused, with the field at fault', async () => {
  expect(await handler.handle({ type: 'unpin', origins: ['not an origin'] })).toMatchObject({
    ok: false,
    error: expect.stringMatching(/^invalid request: origins\.0: /),
  });
  expect(await handler.handle({ type: 'other' })).toMatchObject({
    ok: false,
    error: expect.stringMatching(/^invalid request: type: /),
  });
});

test('a request that fails is refused in the language of the browser', async () => {
  const request = { type: 'export', url: 'https://page.test/' };
  expect(await handler.handle(request)).toEqual({ ok: false, error: german.loadNone });
});

test('answers what the autopilot does only when recorded loads have been handled', async () => {
  let finish = () => {};
  handled = new Promise<void>((resolve) => {
    finish = resolve;
  });
  let isAnswered = false;
  const answer = handler.handle({ type: 'autopilot' }).finally(() => {
    isAnswered = true;
  });
  // Longer than an answer takes that waits for nothing.
  await handler.handle({ type: 'undo-autopilot' });
  expect(isAnswered).toBe(false);
  finish();
  expect(await answer).toMatchObject({ ok: true, runs: [] });
});

test('a local origin that is no longer allowed loses the pin that needed it, and no other', async () => {
  const request = { type: 'disallow-local', origin: LOCAL };
  await allowLocalOrigin(LOCAL);
  pinLocal('avoid-h3', false);
  expect(await handler.handle(request)).toMatchObject({ ok: true, pins: [{ origin: LOCAL }] });
  expect(await loadLocalOrigins()).toEqual([]);
  pins.pins = [];
  pinLocal('h2', true);
  expect(await handler.handle(request)).toMatchObject({ ok: true, pins: [], localOrigins: [] });
});
