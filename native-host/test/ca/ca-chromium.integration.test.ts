/** Whether real Chromium accepts certificates of the local CA, with the certificate store of a temporary home folder. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSecureContext, type SecureContext } from 'node:tls';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { readAuthority } from '../../src/ca/authority-store.ts';
import { LocalLeafIssuer } from '../../src/ca/leaf-issuer.ts';
import { loadInChromium } from '../support/chromium.ts';
import { hopwiseHost } from '../support/command.ts';
import { forgedLeaf } from '../support/forged-leaf.ts';

const PINNED = ['a.test', 'www.a.test'];
/** What a thief of the issuer's key of a.test would serve. */
const FORGED = ['sub.a.test', 'other.test'];
/** Pinned, but served with what a thief of the key of a.test can make. */
const CROSSED = 'b.test';

let home: string;
let folder: string;
let server: Server;
let port: number;
let asked: Set<string>;
let served: Set<string>;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'hopwise-chromium-'));
  folder = join(home, 'data', 'hopwise', 'ca');
  const issuer = new LocalLeafIssuer({ folder, log: (line) => expect.fail(line) });
  const forged = new Map<string, SecureContext>();
  const contextFor = (host: string): SecureContext | null => {
    if (PINNED.includes(host)) return issuer.contextFor(host);
    if (!forged.has(host)) {
      const authority = readAuthority(folder)!;
      forged.set(host, createSecureContext(forgedLeaf(authority.issuers[0]!, host)));
    }
    return forged.get(host)!;
  };
  server = createServer(
    {
      SNICallback: (host, done) => {
        asked.add(host);
        done(null, contextFor(host) ?? undefined);
      },
    },
    (request, response) => {
      served.add(request.headers.host!);
      const pictures = [...PINNED, ...FORGED, CROSSED].map((host) => `<img src="https://${host}/picture">`);
      response.setHeader('content-type', 'text/html');
      response.end(request.url === '/' ? pictures.join('') : '');
    },
  );
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
  // The first start makes the store, which `ca trust` looks for.
  await loadInChromium(home, 'about:blank', port);
});

afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(home, { recursive: true, force: true });
});

beforeEach(() => {
  asked = new Set();
  served = new Set();
});

function ca(...words: string[]): string {
  const { code, out, err } = hopwiseHost(home, ['ca', ...words]);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return out;
}

it('accepts certificates of pinned hosts once the user trusts the CA, no others, and none after its removal', async () => {
  ca('create', ...[...PINNED, CROSSED].map((host) => `https://${host}`));
  await loadInChromium(home, 'https://a.test/', port);
  expect([...asked]).toEqual(['a.test']);
  expect([...served]).toEqual([]);

  const { stores } = JSON.parse(ca('trust', '--json')) as { stores: { folder: string }[] };
  expect(stores).toMatchObject([{ browser: 'Chromium, Chrome, Edge and Brave', trusted: true }]);
  await loadInChromium(home, 'https://a.test/', port);
  expect([...asked].sort()).toEqual([...PINNED, ...FORGED, CROSSED].sort());
  expect([...served].sort()).toEqual([...PINNED].sort());

  // Before the folder is gone, with which the server would have no certificate to show.
  ca('untrust');
  asked.clear();
  served.clear();
  await loadInChromium(home, 'https://a.test/', port);
  expect([...asked]).toEqual(['a.test']);
  expect([...served]).toEqual([]);

  ca('trust');
  ca('remove');
  expect(existsSync(folder)).toBe(false);
  const left = execFileSync('certutil', ['-L', '-d', `sql:${stores[0]!.folder}`], { encoding: 'utf8' });
  expect(left).not.toContain('hopwise');
});
