import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parsePcwndCounts } from '@hopwise/pageload-emulator/econ';
import { afterEach, expect, it } from 'vitest';
import { readLoss } from '../../bin/econ-flags.ts';
import { fetchParsed } from '../../bin/fetch-parsed.ts';

let server: Server;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function serve(listener: RequestListener): Promise<string> {
  server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/pcwnd`;
}

const WINDOWS = [{ cwnd: 10, rounds: 40, packets: 400, lossEvents: 4 }];
const BODY = JSON.stringify({ format: 'hopwise-pcwnd', version: 1, windows: WINDOWS });

it('reads what a server counted', async () => {
  const url = await serve((_, response) => response.end(BODY));
  expect(await fetchParsed(url, parsePcwndCounts)).toEqual(WINDOWS);
  expect(await readLoss([{ file: url, connections: 6 }])).not.toBeNull();
});

it.each<[string, RequestListener, RegExp]>([
  [
    'another status',
    (_, response) => response.writeHead(404).end(BODY),
    /: expected an answer with status 200, got 404$/,
  ],
  [
    'a redirect',
    (_, response) => response.writeHead(302, { location: '/other' }).end(),
    /: expected an answer, got .*redirect/,
  ],
  ['what is no JSON', (_, response) => response.end('<html>'), /: top level: expected JSON$/],
  [
    'other counts',
    (_, response) => response.end(BODY.replace('"rounds":40', '"rounds":1')),
    /: windows\[0\]: expected no more loss events than rounds/,
  ],
  [
    'too much',
    (_, response) => response.end(' '.repeat(1_100_000) + BODY),
    /: expected at most 1 MB, got more$/,
  ],
  ['an end in the middle', (request) => request.socket.destroy(), /: expected an answer, got /],
])('refuses %s in one line that names the URL', async (_name, listener, message) => {
  const url = await serve(listener);
  const refused = await fetchParsed(url, parsePcwndCounts).catch((error: Error) => error.message);
  expect(refused).toMatch(message);
  expect(refused).toContain(url);
  expect(refused).not.toContain('\n');
});

it.each([
  ['http://www.example.test/pcwnd', /expected https, or http on this machine alone/],
  ['http://user:s3cret@127.0.0.1/pcwnd', /without a password/],
  ['https://', /expected a URL/],
])('does not ask %s', async (url, message) => {
  const refused: string = await fetchParsed(url, parsePcwndCounts).then(
    String,
    (error: Error) => error.message,
  );
  expect(refused).toMatch(message);
  expect(refused).not.toContain('s3cret');
});
