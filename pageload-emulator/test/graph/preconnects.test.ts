import { buildGraph, parseRecording } from '@hopwise/pageload-emulator';
import { expect, it } from 'vitest';
import { chromiumEntry, harOf } from '../support/hars.ts';

const PAGE = 'https://a.test/';
const CDN = 'https://cdn.test';
const DOCUMENT = chromiumEntry(
  PAGE,
  0,
  { connect: 100, ssl: 50, wait: 50, receive: 5 },
  { _connectionId: '1' },
);

/** The connections that are opened before their first requests, of a page with files of a CDN. */
function preconnectsOf(...files: object[]) {
  const graph = buildGraph(parseRecording(harOf([DOCUMENT, ...files])));
  return graph.preconnects?.connections.map(({ origin, pool }) => ({ origin: graph.origins[origin], pool }));
}

const fileOf = (url: string, timings: object, connection: string) =>
  chromiumEntry(
    url,
    200,
    { wait: 40, receive: 5, ...timings },
    { _connectionId: connection, _resourceType: 'image' },
  );

it('a connection that was open before its first request is opened with the document', () => {
  expect(preconnectsOf(fileOf(`${CDN}/x.png`, {}, '2'))).toEqual([{ origin: CDN, pool: 0 }]);
});

it('one whose handshake is recorded, or may have been waited for, is opened by its request', () => {
  expect(preconnectsOf(fileOf(`${CDN}/x.png`, { connect: 100, ssl: 50 }, '2'))).toBeUndefined();
  expect(preconnectsOf(fileOf(`${CDN}/x.png`, { dns: 10 }, '2'))).toBeUndefined();
  expect(preconnectsOf(fileOf(`${CDN}/x.png`, { blocked: 60 }, '2'))).toBeUndefined();
});

it('one that another origin shares, or the document’s own, is none', () => {
  expect(preconnectsOf(fileOf(`${CDN}/x.png`, {}, '1'))).toBeUndefined();
  expect(preconnectsOf(fileOf(`${PAGE}x.png`, {}, '3'))).toBeUndefined();
});

it('nothing is known of the connections of a recorder that writes none', () => {
  const document = chromiumEntry(PAGE, 0, { wait: 50, receive: 5 });
  const graph = buildGraph(parseRecording(harOf([document, fileOf(`${CDN}/x.png`, {}, '2')])));
  expect(graph.preconnects).toBeUndefined();
});
