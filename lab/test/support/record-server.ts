/**
 * A live page on loopback for recording: redirects, POST, randomness, compression, a frame, a worker, ranges, endless answers.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { SecureContext } from 'node:tls';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { ROOT } from '../../src/paths.ts';
import { authority } from './site-server.ts';

export const MAIN = 'https://www.record.test';
export const CDN = 'https://cdn.record.test';

type Answer = (request: Http2ServerRequest, response: Http2ServerResponse) => void;

export interface LiveServer {
  /** Chromium's switches that resolve the hosts to this server and trust it. */
  args: string[];
  port: number;
  /** The CA's certificate. */
  caPem: string;
  close(): Promise<void>;
}

/** Serves `answers` by `https://host/path`, without query. */
export async function serveLive(answers: Record<string, Answer>): Promise<LiveServer> {
  const ca = await authority();
  const hosts = [...new Set(Object.keys(answers).map((url) => new URL(url).host))];
  const contexts = new Map<string, SecureContext>();
  for (const host of hosts) contexts.set(host, await ca.contextFor(host));
  const server = createSecureServer(
    { allowHTTP1: true, SNICallback: (name, done) => done(null, contexts.get(name)) },
    (request, response) => {
      const host = request.headers[':authority'] ?? request.headers.host ?? '';
      const answer = answers[`https://${host}${request.url.split('?')[0]}`];
      if (answer) answer(request, response);
      else response.writeHead(404, { 'content-type': 'text/plain' }).end('no such thing');
    },
  );
  const sessions = new Set<{ destroy(): void }>();
  server.on('session', (session) => sessions.add(session));
  server.on('secureConnection', (socket) => sessions.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const rules = hosts.map((host) => `MAP ${host} 127.0.0.1:${port}`).join(',');
  return {
    port,
    caPem: ca.pem,
    args: [`--host-resolver-rules=${rules}`, `--ignore-certificate-errors-spki-list=${ca.spki}`],
    async close() {
      for (const session of sessions) session.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export const SCRIPT = `
  const done = [];
  const ask = (url, options) => done.push(fetch(url, options).then((answer) => answer.text(), String));
  ask('/api/random?lang=en&r=' + Math.random() + '&id=' + crypto.randomUUID());
  ask('/api/time?_=' + Date.now());
  ask('/drawn/' + Math.random());
  ask('/graph', { method: 'POST', body: '{"query":"one"}', headers: { 'content-type': 'application/json', 'x-own': '1' } });
  ask('/graph', { method: 'POST', body: '{"query":"two"}', headers: { 'content-type': 'application/json' } });
  ask('${CDN}/with-credentials', { credentials: 'include', headers: { 'x-own': '1' } });
  const worker = new Worker('/worker.js');
  done.push(new Promise((resolve) => { worker.onmessage = ({ data }) => resolve(data); }));
  Promise.all(done).then((texts) => { document.getElementById('out').textContent = texts.join('|'); });
`;
const WORKER = `fetch('/from-worker.json').then((answer) => answer.text()).then((text) => postMessage(text));`;
export const FILM = Buffer.from(Array.from({ length: 50_000 }, (_, i) => i % 251));
const STYLE = `@font-face { font-family: Own; src: url('${CDN}/own.woff2'); } body { font: 16px Own; }\n${'/* padding of the style sheet */\n'.repeat(300)}`;
const integrity = `sha384-${createHash('sha384').update(SCRIPT).digest('base64')}`;
const HTML = `<!doctype html><title>Recorded</title>
<link rel="stylesheet" href="/style.css">
<script src="/script.js" integrity="${integrity}" defer></script>
<img src="${CDN}/gone.png"><img src="/moved.png">
<iframe src="${CDN}/frame.html"></iframe>
<video src="/film.mp4" preload="auto"></video>
<p id="out">…</p>`;

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

const send =
  (type: string, body: string | Uint8Array, headers: Record<string, string> = {}): Answer =>
  (_, response) =>
    response
      .writeHead(200, { 'content-type': type, 'content-length': Buffer.byteLength(body), ...headers })
      .end(body);

export async function pageAnswers(): Promise<Record<string, Answer>> {
  const font = await readFile(
    join(ROOT, 'node_modules/@fontsource/inter/files/inter-latin-400-normal.woff2'),
  );
  return {
    [`${MAIN}/start`]: (_, response) =>
      response.writeHead(302, { location: '/page?from=start', 'set-cookie': 'secret=1' }).end(),
    [`${MAIN}/page`]: send('text/html; charset=utf-8', brotliCompressSync(HTML), {
      'content-encoding': 'br',
      'set-cookie': 'session=secret',
      'x-auth-token': 'secret',
      'content-security-policy': `default-src 'self' ${CDN}; style-src 'self'; media-src 'self'`,
    }),
    [`${MAIN}/style.css`]: (request, response) =>
      send('text/css', gzipSync(STYLE), {
        'content-encoding': 'gzip',
        expires: new Date(Date.now() + 3_600_000).toUTCString(),
      })(request, response),
    [`${MAIN}/script.js`]: send('text/javascript', SCRIPT, { 'cache-control': 'max-age=60' }),
    [`${MAIN}/worker.js`]: send('text/javascript', WORKER),
    [`${MAIN}/from-worker.json`]: send('application/json', '{"from":"worker"}'),
    [`${MAIN}/api/random`]: (request, response) =>
      setTimeout(
        () => response.writeHead(200, { 'content-type': 'text/plain' }).end(`for ${request.url}`),
        // Far more than a busy machine takes for a round trip, which is subtracted.
        300,
      ),
    [`${MAIN}/api/time`]: send('text/plain', 'a time'),
    [`${MAIN}/graph`]: (request, response) => {
      let body = '';
      request.on('data', (text) => {
        body += text;
      });
      request.on('end', () =>
        response.writeHead(200, { 'content-type': 'application/json' }).end(`{"answer to":${body}}`),
      );
    },
    [`${MAIN}/moved.png`]: (_, response) => response.writeHead(301, { location: `${CDN}/here.png` }).end(),
    [`${MAIN}/film.mp4`]: (request, response) => {
      const [, first = '0', last = ''] = /^bytes=(\d+)-(\d*)$/.exec(String(request.headers.range)) ?? [];
      const part = FILM.subarray(Number(first), last === '' ? undefined : Number(last) + 1);
      response
        .writeHead(206, {
          'content-type': 'video/mp4',
          'accept-ranges': 'bytes',
          'content-range': `bytes ${first}-${Number(first) + part.length - 1}/${FILM.length}`,
          'content-length': part.length,
        })
        .end(part);
    },
    [`${CDN}/here.png`]: send('image/png', PNG),
    [`${CDN}/own.woff2`]: send('font/woff2', font, { 'access-control-allow-origin': MAIN }),
    [`${CDN}/frame.html`]: send(
      'text/html',
      '<!doctype html><img src="in-frame.png"><script src="latin.js"></script><script src="marked.js"></script>',
    ),
    [`${CDN}/latin.js`]: send('text/javascript; charset=iso-8859-1', Buffer.from('"caf\xe9"', 'latin1')),
    [`${CDN}/marked.js`]: send('text/javascript', '\ufeff"byte order mark"\r\n'),
    [`${CDN}/in-frame.png`]: send('image/png', PNG),
    [`${CDN}/with-credentials`]: (request, response) => {
      const cors = { 'access-control-allow-origin': MAIN, 'access-control-allow-credentials': 'true' };
      if (request.method === 'OPTIONS')
        response.writeHead(204, { ...cors, 'access-control-allow-headers': 'x-own' }).end();
      else response.writeHead(200, { ...cors, 'content-type': 'text/plain' }).end('with credentials');
    },
  };
}
