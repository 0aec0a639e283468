/** Serves a generated site over HTTP/1.1 and HTTP/2 on loopback, each host with its own certificate. */
import 'reflect-metadata';
import { createHash, webcrypto } from 'node:crypto';
import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { createSecureContext, type SecureContext } from 'node:tls';
import * as x509 from '@peculiar/x509';
import type { GeneratedSite } from '../../src/sites/write-site.ts';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

export interface SiteServer {
  port: number;
  /** base64 SHA-256 of the CA's public key. */
  caSpki: string;
  /** Chromium's `--host-resolver-rules` that resolve the site's hosts to this server. */
  resolverRules: string;
  hosts: string[];
  /** `host path` of every request, in order. */
  requested: string[];
  close(): Promise<void>;
}

async function pem(key: CryptoKey): Promise<string> {
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', key as webcrypto.CryptoKey));
  return `-----BEGIN PRIVATE KEY-----\n${der.toString('base64')}\n-----END PRIVATE KEY-----\n`;
}

export async function authority() {
  x509.cryptoProvider.set(webcrypto as unknown as Crypto);
  const generate = async () =>
    (await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])) as CryptoKeyPair;
  const validity = {
    notBefore: new Date(Date.now() - 86_400_000),
    notAfter: new Date(Date.now() + 86_400_000),
  };
  const keys = await generate();
  const ca = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: '01',
    name: 'CN=Test CA',
    ...validity,
    keys,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
    ],
  });
  let serial = 2;
  return {
    pem: ca.toString('pem'),
    spki: createHash('sha256').update(Buffer.from(ca.publicKey.rawData)).digest('base64'),
    async contextFor(host: string): Promise<SecureContext> {
      const leafKeys = await generate();
      const leaf = await x509.X509CertificateGenerator.create({
        serialNumber: (serial++).toString(16).padStart(2, '0'),
        subject: `CN=${host}`,
        issuer: ca.subject,
        ...validity,
        publicKey: leafKeys.publicKey,
        signingKey: keys.privateKey,
        signingAlgorithm: ALGORITHM,
        extensions: [new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: host }])],
      });
      return createSecureContext({
        key: await pem(leafKeys.privateKey),
        cert: `${leaf.toString('pem')}\n${ca.toString('pem')}\n`,
      });
    },
  };
}

export async function serveSite({ site, files }: GeneratedSite): Promise<SiteServer> {
  const ca = await authority();
  const hosts = site.origins.map(({ origin }) => new URL(origin).host);
  const contexts = new Map<string, SecureContext>();
  for (const host of hosts) contexts.set(host, await ca.contextFor(host));
  const resources = new Map(site.resources.map((resource) => [resource.origin + resource.path, resource]));
  const requested: string[] = [];
  const server = createSecureServer(
    { allowHTTP1: true, SNICallback: (name, done) => done(null, contexts.get(name)) },
    (request, response) => {
      const host = request.headers[':authority'] ?? request.headers.host ?? '';
      const resource = resources.get(`https://${host}${request.url}`);
      requested.push(`${host} ${request.url}`);
      if (resource === undefined) {
        response.writeHead(404).end();
        return;
      }
      const body =
        'file' in resource.body ? (files.get(resource.body.file) as Uint8Array) : filler(resource.body);
      setTimeout(() => {
        response.writeHead(resource.status, resource.headers);
        response.end(body);
      }, resource.thinkMs);
    },
  );
  const sessions = new Set<{ destroy(): void }>();
  server.on('session', (session) => sessions.add(session));
  server.on('secureConnection', (socket) => sessions.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    caSpki: ca.spki,
    hosts,
    requested,
    resolverRules: hosts.map((host) => `MAP ${host} 127.0.0.1:${port}`).join(','),
    async close() {
      for (const session of sessions) session.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Noise instead of the server's pictures: the browser fetches it just the same. */
function filler({ bytes }: { bytes: number }): Buffer {
  return Buffer.alloc(bytes, 'hopwise ');
}
