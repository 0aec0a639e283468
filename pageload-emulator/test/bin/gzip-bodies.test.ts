import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateSync, gzipSync } from 'node:zlib';
import { strToU8, zipSync } from 'fflate';
import { afterAll, describe, expect, it } from 'vitest';
import { gzipBodies } from '../../bin/gzip-bodies.ts';

const dir = mkdtempSync(join(tmpdir(), 'hopwise-gzip-'));
afterAll(() => rmSync(dir, { recursive: true }));

const TEXT = 'let a = 1;\n'.repeat(1_000);
const HAR = JSON.stringify({
  log: {
    entries: [
      { request: { url: 'https://a.test/a.js#top' }, response: { content: { text: TEXT } } },
      {
        request: { url: 'https://a.test/b.png' },
        response: { content: { text: 'aGk=', encoding: 'base64' } },
      },
      { request: { url: 'https://a.test/c.js' }, response: { content: { size: 10 } } },
      { response: null },
      null,
    ],
  },
});

function written(name: string, content: string | Uint8Array): string {
  writeFileSync(join(dir, name), content);
  return join(dir, name);
}

describe('bodies in a HAR', () => {
  it.each([
    ['a.har', HAR],
    ['a.har.gz', gzipSync(HAR)],
    ['utf16.har', Buffer.from(`\uFEFF${HAR}`, 'utf16le')],
    ['utf16be.har', Buffer.from(`\uFEFF${HAR}`, 'utf16le').swap16()],
    ['a.harp', `onInputData(${HAR});`],
    ['python.har', HAR.replace('"size":10', '"size":NaN')],
  ])('are compressed where they are text: %s', async (name, content) => {
    const sizes = await gzipBodies(written(name, content));
    expect(sizes).toEqual(new Map([['https://a.test/a.js', gzipSync(TEXT).length]]));
  });

  it.each([['{"format":"hopwise-recording"}'], ['{"log":{"entries":7}}'], ['{"log":null}']])(
    'are unknown in %s',
    async (content) => {
      expect((await gzipBodies(written('b.json', content))).size).toBe(0);
    },
  );

  it('are unknown in a zip file, where they are beside the HAR', async () => {
    expect((await gzipBodies(written('a.har.zip', zipSync({ 'a.har': strToU8(HAR) })))).size).toBe(0);
  });

  it.each([
    ['a.zhar', deflateSync(HAR)],
    ['cut.json', '{"traceEvents":[{"name":"ResourceSendRequest"},'],
  ])('are unknown in %s', async (name, content) => {
    expect((await gzipBodies(written(name, content))).size).toBe(0);
  });

  it('are unknown on standard input', async () => {
    expect((await gzipBodies('-')).size).toBe(0);
  });
});
