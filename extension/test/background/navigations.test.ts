import { beforeEach, expect, test, vi } from 'vitest';
import { Navigations } from '../../src/background/navigations.ts';

/** The listeners of each event. */
let listeners: Map<string, Set<(details: unknown) => void>>;
let added: string[];

beforeEach(() => {
  listeners = new Map();
  added = [];
  const names = [
    'onBeforeRequest',
    'onHeadersReceived',
    'onBeforeRedirect',
    'onCompleted',
    'onErrorOccurred',
  ];
  const webRequest = Object.fromEntries(
    names.map((name) => {
      const own = new Set<(details: unknown) => void>();
      listeners.set(name, own);
      return [name, { addListener: own.add.bind(own), removeListener: own.delete.bind(own) }];
    }),
  );
  vi.stubGlobal('chrome', { webRequest });
});

const navigate = (requestId: string) =>
  listeners.get('onBeforeRequest')!.forEach((listener) => {
    listener({ requestId, tabId: 1, type: 'main_frame', method: 'GET', url: 'https://page.test/' });
  });

const start = (isWanted: () => Promise<boolean>) =>
  new Navigations(
    {
      addRequest: (_tabId, { requestId }) => added.push(requestId),
      updateRequest: vi.fn(),
      addFailure: vi.fn(),
    },
    isWanted,
    vi.fn(),
    vi.fn(),
  );

const countListeners = () => [...listeners.values()].reduce((sum, { size }) => sum + size, 0);

test('listens from the first moment on, and tells what it heard once that turns out to be wanted', async () => {
  let resolve: (isWanted: boolean) => void = () => undefined;
  start(() => new Promise((answer) => (resolve = answer)));
  navigate('first');
  navigate('second');
  expect(added).toEqual([]);
  resolve(true);
  await vi.waitFor(() => expect(added).toEqual(['first', 'second']));
  expect(countListeners()).toBe(5);
});

test('stops listening, and passes nothing on, where that is not wanted, until it is', async () => {
  let isWanted = false;
  const navigations = start(async () => isWanted);
  navigate('unwanted');
  await vi.waitFor(() => expect(countListeners()).toBe(0));
  isWanted = true;
  await navigations.update();
  navigate('wanted');
  await vi.waitFor(() => expect(added).toEqual(['wanted']));
  isWanted = false;
  await navigations.update();
  expect(countListeners()).toBe(0);
});

test('stops listening where the settings cannot be read, and logs the reason', async () => {
  const said = vi.spyOn(console, 'error').mockReturnValue();
  let fails = true;
  const navigations = start(async () => {
    if (fails) throw new Error('the database is closed');
    return true;
  });
  await vi.waitFor(() => expect(countListeners()).toBe(0));
  expect(said).toHaveBeenCalledWith('hopwise: navigations are not listened to:', 'the database is closed');
  fails = false;
  await navigations.update();
  expect(countListeners()).toBe(5);
});

test('listens to nothing without the permission, until it is given', async () => {
  const { webRequest } = chrome;
  Reflect.deleteProperty(chrome, 'webRequest');
  const navigations = start(async () => true);
  await navigations.update();
  Reflect.set(chrome, 'webRequest', webRequest);
  expect(countListeners()).toBe(0);
  await navigations.update();
  expect(countListeners()).toBe(5);
});
