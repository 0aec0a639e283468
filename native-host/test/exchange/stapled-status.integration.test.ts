/** What libcurl with GnuTLS makes of the certificate status that an origin staples to its handshake (RFC 6066, section 8). */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ExchangeError } from '../../src/exchange/exchange.ts';
import { engineTrusting } from '../support/engine.ts';
import { makeStapledCertificate, type StapledCertificate } from '../support/stapled-certificates.ts';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'hopwise-staple-'));
});

afterAll(() => rmSync(folder, { recursive: true }));

/** What a request to an origin that staples this ends in: a status, or the fault's code. */
async function outcomes(
  certificate: StapledCertificate,
  staple: 'good' | 'revoked' | 'none',
): Promise<unknown[]> {
  const { key, cert, status } = certificate;
  const server = createSecureServer({ key, cert, allowHTTP1: true }, (_request, response) => response.end());
  server.on('OCSPRequest', (_certificate, _issuer, done) =>
    done(null, staple === 'none' ? null : status[staple]),
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `https://localhost:${(server.address() as AddressInfo).port}/`;
  const engine = await engineTrusting(certificate);
  const ask = (protocol: 'h1' | 'h2'): Promise<unknown> =>
    engine.exchange({ protocol, method: 'HEAD', url, headers: [], body: null }).head.then(
      (head) => head.status,
      (fault: ExchangeError) => fault.code,
    );
  const all = [await ask('h1'), await ask('h2')];
  await engine.close();
  server.close();
  return all;
}

describe.each([
  ['a certificate', false],
  ['a certificate that requires a stapled status', true],
])('%s', (name, mustStaple) => {
  let certificate: StapledCertificate;

  beforeAll(() => {
    certificate = makeStapledCertificate(join(folder, String(mustStaple)), mustStaple);
  });

  it('is accepted with a good status', async () => {
    expect(await outcomes(certificate, 'good')).toEqual([200, 200]);
  });

  it('is rejected when its status says that it is revoked', async () => {
    expect(await outcomes(certificate, 'revoked')).toEqual(['certificate', 'certificate']);
  });

  it(`without a status is ${name.endsWith('status') ? 'rejected' : 'accepted'}`, async () => {
    const expected = mustStaple ? ['certificate', 'certificate'] : [200, 200];
    expect(await outcomes(certificate, 'none')).toEqual(expected);
  });
});
