/** curl gets through a pin what it gets directly. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PROTOCOLS } from '@hopwise/contract';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Pinned } from '../pins/terminating/support/pinned.ts';
import type { Server } from '../support/server.ts';
import { servePinned } from './support/serve-pinned.ts';

const UPLOAD_BYTES = 3_000_000;

const served = servePinned();
let folder: string;
let server: Server;
let pinned: Pinned;

beforeAll(() => {
  ({ folder, server, pinned } = served);
  writeFileSync(join(folder, 'roots.pem'), pinned.roots.join(''));
  writeFileSync(join(folder, 'upload'), randomBytes(UPLOAD_BYTES));
});

interface Got {
  body: Buffer;
  /** Exit status of curl, status, and bytes of the body. */
  outcome: string;
}

async function curl(args: readonly string[], version: string, proxied: boolean): Promise<Got> {
  const proxy = proxied
    ? ['--proxy', `http://127.0.0.1:${pinned.port}`, '--noproxy', '']
    : ['--noproxy', '*'];
  const all = ['--silent', '--no-buffer', version, '--cacert', join(folder, 'roots.pem'), ...proxy];
  const written = '%{stderr}%{exitcode} %{http_code} %{size_download}';
  const options = { encoding: 'buffer', maxBuffer: 2 ** 26 } as const;
  const { stdout, stderr } = await promisify(execFile)(
    'curl',
    [...all, '--write-out', written, ...args],
    options,
  )
    // curl's own errors have their outcome as well.
    .catch((fault) => fault as { stdout: Buffer; stderr: Buffer });
  return { body: stdout, outcome: stderr.toString() };
}

describe.each(PROTOCOLS)('pinned to %s', (protocol) => {
  beforeAll(async () => {
    await pinned.pin(server.port, protocol);
    await server.seen();
  });

  describe.each(['--http1.1', '--http2'])('with %s', (version) => {
    it.each<[string, () => string[]]>([
      ['a download', () => [server.url('/file/5000000')]],
      ['a range', () => ['--range', '1000-200999', server.url('/file/5000000')]],
      ['the last bytes', () => ['--range', '-99', server.url('/file/5000')]],
      ['ranges', () => ['--range', '5-9,20-29', '--output', '-', server.url('/file/5')]],
      ['a range that is not there', () => ['--range', '9000-', server.url('/file/5000')]],
      ['several on one connection', () => [server.url('/file/[1-9]0000')]],
      ['a head', () => ['--head', '--output', '/dev/null', server.url('/file/5000')]],
      ['a stream in pieces', () => [server.url('/trickle/5000')]],
      ['an error', () => [server.url('/status/404')]],
      ['nothing without credentials', () => [server.url('/credentials/basic')]],
      ['a response by Basic credentials', () => ['--user', 'user:s3cret', server.url('/credentials/basic')]],
      ['nothing by wrong ones', () => ['--user', 'user:wrong', server.url('/credentials/basic')]],
      [
        'a response by Digest credentials',
        () => ['--digest', '--user', 'user:s3cret', server.url('/credentials/digest')],
      ],
      ['a response that breaks off', () => [server.url('/cut/50000')]],
    ])('gets %s', async (_name, args) => {
      const direct = await curl(args(), version, false);
      expect((await server.seen(1)).length).toBeGreaterThan(0);
      const got = await curl(args(), version, true);
      const seen = await server.seen(1);
      expect(seen.every(({ proto }) => proto.startsWith(`HTTP/${protocol.slice(1)}`))).toBe(true);
      // Each version has its own error for a response that breaks off, and how much of it comes is by chance.
      const ended = ({ outcome }: Got): string => outcome.replace(/^(18|92) .*/, 'broken');
      expect(ended(got)).toBe(ended(direct));
      if (ended(direct) !== 'broken') expect(got.body.equals(direct.body)).toBe(true);
    });

    it.each([
      ['PUT', ['--upload-file']],
      ['POST', ['--request', 'POST', '--header', 'Transfer-Encoding: chunked', '--upload-file']],
    ])('uploads by %s', async (method, args) => {
      const digest = async (proxied: boolean): Promise<unknown> => {
        const { body } = await curl(
          [...args, join(folder, 'upload'), server.url('/digest')],
          version,
          proxied,
        );
        const { bytes, whole, digest, method } = JSON.parse(body.toString());
        return { bytes, whole, digest, method };
      };
      const direct = await digest(false);
      expect(direct).toMatchObject({ bytes: UPLOAD_BYTES, whole: true, method });
      expect(await digest(true)).toEqual(direct);
    });
  });
});
