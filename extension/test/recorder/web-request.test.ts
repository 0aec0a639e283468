import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { ObservedRequest } from '../../src/recorder/observed-request.ts';
import {
  canListen,
  listenToFailures,
  listenToNavigations,
  listenToTab,
  toFrameId,
} from '../../src/recorder/web-request.ts';

test.each([
  { of: 'the top frame', frameId: 0, parentFrameId: -1, expected: 0 },
  { of: 'the top frame before the browser process knows it', frameId: 7, parentFrameId: -1, expected: 0 },
  { of: 'an iframe', frameId: 7, parentFrameId: 0, expected: 7 },
  { of: 'a worker', frameId: -1, parentFrameId: -1, expected: -1 },
])('a request of $of has frame id $expected', ({ frameId, parentFrameId, expected }) => {
  expect(toFrameId({ frameId, parentFrameId })).toBe(expected);
});

describe('listeners', () => {
  type Listener = (details: object) => void;
  let added: { event: string; listener: Listener; filter: chrome.webRequest.RequestFilter }[];
  let seen: string[];

  const sink = {
    addRequest: () => undefined,
    updateRequest: () => undefined,
    addFailure: (_tabId: number, url: string) => void seen.push(`failed: ${url}`),
  };
  const onNetworkChanged = () => void seen.push('network changed');
  const send = (event: string, details: object) => {
    const all = { tabId: 1, type: 'main_frame', url: 'https://page.test/', requestId: '1', ...details };
    for (const each of added.filter((one) => one.event === event)) each.listener(all);
  };

  beforeEach(() => {
    added = [];
    seen = [];
    const listenerOf = (event: string) => ({
      addListener: (listener: Listener, filter: chrome.webRequest.RequestFilter) =>
        void added.push({ event, listener, filter }),
      removeListener: (listener: Listener) => {
        added = added.filter((each) => each.listener !== listener);
      },
    });
    const webRequest = new Proxy({}, { get: (_, event) => listenerOf(String(event)) });
    vi.stubGlobal('chrome', { webRequest });
  });

  test('navigations alone wake the worker, with one listener to each event', () => {
    listenToNavigations(sink, onNetworkChanged, () => undefined);
    expect(added.map(({ filter }) => filter.types)).toEqual(added.map(() => ['main_frame']));
    expect(new Set(added.map(({ event }) => event)).size).toBe(added.length);
  });

  test('a navigation shows that the network has changed, and which hints the server asks for', () => {
    listenToNavigations(sink, onNetworkChanged, (url, acceptCh) => void seen.push(`${url} ${acceptCh}`));
    for (const error of ['net::ERR_NETWORK_CHANGED', 'net::ERR_ABORTED', 'NS_ERROR_OFFLINE'])
      send('onErrorOccurred', { error });
    send('onHeadersReceived', { responseHeaders: [{ name: 'Accept-CH', value: 'Start-Rate' }] });
    send('onHeadersReceived', { responseHeaders: [] });
    expect(seen).toEqual(['network changed', 'network changed', 'https://page.test/ Start-Rate']);
  });

  test.each([
    ['net::ERR_QUIC_PROTOCOL_ERROR', 'h3'],
    ['NS_ERROR_NET_HTTP3_PROTOCOL_ERROR', 'h3'],
    ['net::ERR_HTTP2_PROTOCOL_ERROR', 'h2'],
    ['net::ERR_CONNECTION_RESET', null],
  ])('a request of the tab that fails with %s tells the protocol', (error, failedOver) => {
    const changes: Partial<ObservedRequest>[] = [];
    listenToTab(7, { ...sink, updateRequest: (_tab, _request, change) => void changes.push(change) });
    send('onErrorOccurred', { type: 'image', url: 'https://page.test/a.png', timeStamp: 5, error });
    expect(changes).toEqual([{ endedAt: 5, status: 0, failedOver }]);
  });

  test('without the permission nothing is heard', () => {
    expect(canListen()).toBe(true);
    vi.stubGlobal('chrome', {});
    expect(canListen()).toBe(false);
    listenToFailures(sink, onNetworkChanged)();
    expect([added, seen]).toEqual([[], []]);
  });

  test('failures of all requests are reported until that is ended, those of blocked ones are not', () => {
    const end = listenToFailures(sink, onNetworkChanged);
    const image = { type: 'image', url: 'https://page.test/a.png' };
    send('onErrorOccurred', { ...image, error: 'net::ERR_BLOCKED_BY_CLIENT' });
    send('onErrorOccurred', { ...image, error: 'net::ERR_CONNECTION_RESET' });
    send('onErrorOccurred', { ...image, error: 'net::ERR_INTERNET_DISCONNECTED' });
    expect(seen).toEqual([
      'failed: https://page.test/a.png',
      'network changed',
      'failed: https://page.test/a.png',
    ]);
    end();
    expect(added).toEqual([]);
  });
});
