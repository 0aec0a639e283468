import { beforeEach, expect, test, vi } from 'vitest';
import { FirefoxSteering } from '../../../src/pins/worker/firefox-steering.ts';

type OnRequest = (request: Record<string, unknown>) => unknown;

const proxyFor = (url: string) => ({
  type: 'http',
  host: '127.0.0.1',
  port: 4321,
  connectionIsolationKey: new URL(url).origin,
});
let onRequest: { listener: OnRequest; filter: unknown }[];
let onChange: (() => Promise<void>)[];
let proxyType: string;
let lost: string[];
let steering: FirefoxSteering;

beforeEach(() => {
  onRequest = [];
  onChange = [];
  lost = [];
  proxyType = 'system';
  vi.stubGlobal('chrome', {
    proxy: {
      onRequest: {
        addListener: (listener: OnRequest, filter: unknown) => void onRequest.push({ listener, filter }),
        removeListener: (listener: OnRequest) => {
          onRequest = onRequest.filter((one) => one.listener !== listener);
        },
      },
      settings: {
        get: async () => ({ levelOfControl: 'controllable_by_this_extension', value: { proxyType } }),
        onChange: {
          addListener: (listener: () => Promise<void>) => void onChange.push(listener),
          removeListener: (listener: () => Promise<void>) => {
            onChange = onChange.filter((one) => one !== listener);
          },
        },
      },
    },
  });
  steering = new FirefoxSteering((why) => void lost.push(why));
});

const route = {
  port: 4321,
  origins: ['https://a.example', 'https://b.example:8443'],
  trials: ['https://a.example:49151'],
};
const wayOf = (url: string) => onRequest[0]!.listener({ url, type: 'main_frame' });

test('sends pinned origins through the proxy, and gives no answer for all others', async () => {
  await steering.setRoute(route);
  const wayTo = (url: string) => [proxyFor(url), { type: 'direct' }];
  expect(onRequest[0]!.filter).toEqual({ urls: ['https://*/*'] });
  expect(wayOf('https://a.example/path')).toEqual(wayTo('https://a.example'));
  expect(wayOf('https://b.example:8443/')).toEqual(wayTo('https://b.example:8443'));
  expect(wayOf('https://a.example:49151/')).toEqual([proxyFor('https://a.example:49151')]);
  for (const url of [
    'https://b.example/',
    'https://a.example:444/',
    'http://a.example/',
    'https://evil.test/?https://a.example/',
    'https://sub.a.example/',
  ]) {
    expect(wayOf(url), url).toBeUndefined();
  }
});

test('sends every origin through one of the further ports where all are pinned', async () => {
  const everyOrigin = {
    ports: [5001],
    exceptions: ['https://intranet.example'],
    leftSites: ['left.example'],
  };
  await steering.setRoute({ ...route, everyOrigin });
  const direct = { type: 'direct' };
  const shared = { ...proxyFor('https://c.example'), port: 5001, failoverTimeout: 1 };
  expect(wayOf('https://c.example/path')).toEqual([shared, direct]);
  expect(wayOf('https://a.example/')).toEqual([proxyFor('https://a.example'), direct]);
  for (const url of ['https://intranet.example/', 'https://www.left.example/', 'https://10.0.0.1/'])
    expect(wayOf(url), url).toBeUndefined();
  await steering.setRoute(route);
  expect(wayOf('https://c.example/path')).toBeUndefined();
});

test.each<[string, object, string]>([
  ['a page', { type: 'main_frame', documentUrl: 'https://before.example/' }, 'https://a.example'],
  ['a frame', { type: 'sub_frame', documentUrl: 'https://page.example/' }, 'https://page.example'],
  [
    'a frame in a frame',
    {
      type: 'sub_frame',
      documentUrl: 'https://frame.example/',
      frameAncestors: [{ url: 'https://frame.example/' }, { url: 'https://page.example:8443/b' }],
    },
    'https://page.example:8443',
  ],
  [
    'a resource',
    { type: 'script', documentUrl: 'https://page.example/', originUrl: 'https://style.example/' },
    'https://page.example',
  ],
  [
    'a resource of this',
    { type: 'image', documentUrl: 'https://page.example/', frameAncestors: [] },
    'https://page.example',
  ],
  [
    'a shared worker',
    { type: 'xmlhttprequest', originUrl: 'https://worker.example/' },
    'https://worker.example',
  ],
  ['nobody', { type: 'speculative' }, 'https://a.example'],
])('keeps the connections of pages apart: for %s', async (_what, request, key) => {
  await steering.setRoute(route);
  const way = onRequest[0]!.listener({ url: 'https://a.example/x', ...request });
  expect(way).toMatchObject([{ connectionIsolationKey: key }, { type: 'direct' }]);
});

test('adds and removes origins without a second listener', async () => {
  await steering.setRoute(route);
  await steering.setRoute({ ...route, origins: ['https://c.example'] });
  expect(onRequest).toHaveLength(1);
  expect(wayOf('https://a.example/')).toBeUndefined();
  expect(wayOf('https://c.example/')).toBeDefined();
  await steering.clearRoute();
  expect([onRequest, onChange]).toEqual([[], []]);
});

test.each(['manual', 'autoConfig', 'autoDetect'])(
  'does not bypass a proxy that the user has set: %s',
  async (type) => {
    proxyType = type;
    await expect(steering.setRoute(route)).rejects.toThrow('already uses a proxy');
    expect(onRequest).toEqual([]);
  },
);

test('ends when the user sets a proxy', async () => {
  await steering.setRoute(route);
  await onChange[0]!();
  expect(lost).toEqual([]);
  proxyType = 'manual';
  await onChange[0]!();
  expect(lost).toEqual(['steeringOtherProxy']);
});

test('the route can be cleared after the permission, and with it the API, was removed', async () => {
  await steering.setRoute(route);
  vi.stubGlobal('chrome', { ...chrome, proxy: undefined });
  await steering.clearRoute();
});
