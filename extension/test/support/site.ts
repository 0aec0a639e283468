import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';

/** A request that reached one of the servers. */
export interface Served {
  url: string;
  method: string;
}

/** A small page on two loopback origins that requests resources in every way the recorder distinguishes. */
export interface Site {
  url: string;
  other: string;
  served: Served[];
  /** Answers the requests for `/held.png`. */
  release(): void;
  close(): Promise<void>;
}

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=',
  'base64',
);

/** A valid font, from playwright-core: Chromium requests an invalid one again. */
function someFont(): Buffer {
  const require = createRequire(import.meta.url);
  const assets = join(dirname(require.resolve('playwright-core/package.json')), 'lib/vite/recorder/assets');
  const name = readdirSync(assets).find((file) => file.endsWith('.ttf'));
  if (!name) throw new Error(`no font in ${assets}`);
  return readFileSync(join(assets, name));
}

/** Reads the body, because the browser creates the timing entry of a fetch only then. */
const READ = 'const read = (url) => fetch(url).then((response) => response.text());';

/** More than the 250 entries that a page's own Resource Timing buffer holds. */
const MANY_IMAGES = 270;

/** Of a frame that keeps its process busy for ever; a test resolves it to the loopback address. */
export const BUSY_HOST = 'busy.test';

export async function startSite(): Promise<Site> {
  const font = { type: 'font/ttf', body: someFont() };
  const served: Served[] = [];
  const held: (() => void)[] = [];
  const servers: Server[] = [];
  const listen = async (
    answer: (path: string) => { type: string; body: string | Buffer } | { to: string },
  ) => {
    const server = createServer((request, response) => {
      const url = `http://${request.headers.host}${request.url}`;
      if (request.url !== '/favicon.ico') served.push({ url, method: request.method ?? '' });
      const found = answer(request.url?.split('?')[0] ?? '/');
      // Never answered, so the page's load event never fires.
      if (request.url === '/never.png') return;
      const image = () => response.writeHead(200, { 'content-type': 'image/png' }).end(PNG);
      if (request.url === '/held.png') {
        held.push(image);
        return;
      }
      if (request.url === '/slow.png') {
        setTimeout(image, 2000);
        return;
      }
      if (request.url === '/endless-frame.html') {
        response.writeHead(200, { 'content-type': 'text/html' }).write('<p>more of it follows');
        return;
      }
      if ('to' in found) {
        response.writeHead(302, { location: found.to, 'cache-control': 'no-store' }).end();
        return;
      }
      response.writeHead(200, {
        'content-type': found.type,
        'content-length': Buffer.byteLength(found.body),
        'access-control-allow-origin': '*',
        'access-control-allow-headers': 'x-custom',
        'alt-svc': 'h3=":443"; ma=60',
        // Keeps the page out of the back/forward cache.
        'cache-control': request.url === '/kept.html' ? 'no-cache' : 'no-store',
      });
      response.end(found.body);
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };

  const other = await listen((path) => {
    if (path === '/frame.html') {
      return html(`<img src="/in-frame.png"><script>${READ}read("/from-frame.json")</script>`);
    }
    if (path.endsWith('.css')) return css('@font-face{font-family:o;src:url(/other.ttf)}b{font-family:o}');
    if (path.endsWith('.ttf')) return font;
    return path.endsWith('.js') ? js('new Image().src = "/from-other.png?2"') : png();
  });

  const pages: Record<string, () => ReturnType<typeof html>> = {
    '/': () =>
      html(`<!doctype html><title>recorder</title><base href="/deep/">
        <link rel="preload" as="image" href="/preloaded.png">
        <link rel="stylesheet" href="/style.css"><link rel="stylesheet" href="${other}/other.css">
        <script src="/a.js"></script><script type="module" src="/module.js"></script>
        <script>${READ}read('inline.json'); document.write('<img src="/written.png">')</script>
        <style>i{background:url(/inline-style.png)}</style>
        <p>text <b>other</b> <i>inline</i></p>
        <img src="/parsed.png"><img src="/moved.png"><img srcset="/small.png 1x, /large.png 2x">
        <iframe src="/frame.html"></iframe><iframe src="${other}/frame.html"></iframe>
        <div>${Array.from({ length: MANY_IMAGES }, (_, i) => `<img src="/many.png?${i}">`).join('')}</div>`),
    '/frame.html': () => html('<link rel="stylesheet" href="/frame.css"><script src="/frame.js"></script>'),
    '/kept.html': () => html('<p>kept</p>'),
    '/policy.html': () =>
      html(`<meta http-equiv="Content-Security-Policy" content="img-src 'self'; connect-src 'self'">
        <img src="/parsed.png"><img src="${other}/refused.png"><img src="http://192.168.77.77/inside.png">
        <script>fetch('${other}/refused.json').catch(() => {})</script>`),
    '/never.html': () => html('<img src="/parsed.png"><img src="/never.png">'),
    '/eager.html': () =>
      html('<script>dispatchEvent(new Event("load"))</script><img src="/parsed.png"><img src="/slow.png">'),
    '/endless.html': () =>
      html(`<p>text</p><script>addEventListener('load', () => setTimeout(() => {
        const d = document.createElement('iframe'); d.src = '/endless-frame.html'; document.body.append(d);
      }))</script>`),
    '/busy.html': () => {
      const { port } = new URL(url);
      return html(`<p>text</p><iframe src="http://${BUSY_HOST}:${port}/busy-frame.html"></iframe>`);
    },
    '/busy-frame.html': () =>
      html(`<script>addEventListener('load', () => setTimeout(() => { for (;;); }))</script>`),
    '/reopened.html': () =>
      html(`<img src="/slow.png"><script>addEventListener('DOMContentLoaded', () => setTimeout(() => {
        document.open(); document.write('<p>another text<img src="/parsed.png">'); document.close();
      }))</script>`),
    '/held.html': () => html('<img src="/parsed.png"><img src="/held.png">'),
    '/slow.html': () => html('<img src="/parsed.png"><img src="/slow.png">'),
    '/style.css': () =>
      css('@font-face{font-family:f;src:url(/f.ttf)}p{font-family:f;background:url(/bg.png)}'),
    '/frame.css': () => css('body{background:url(/frame-bg.png)}'),
    '/a.js': () =>
      js(`const s = document.createElement('script'); s.src = '/b.js'; document.head.append(s);
        const x = new XMLHttpRequest(); x.open('GET', '/xhr.json'); x.send();
        const json = (what, init) => fetch(what, init).then((response) => response.text());
        json(new URL('/url.json', location.href)); json(new Request('/request.json'));
        json('${other}/preflighted.json', { headers: { 'x-custom': '1' } });`),
    '/b.js': () =>
      js(`new Image().src = '/image.png';
        const i = document.createElement('img'); i.setAttribute('src', '/attribute.png'); document.body.append(i);
        const t = document.createElement('script'); t.src = '${other}/third.js'; document.head.append(t);
        const l = document.createElement('link'); l.rel = 'stylesheet'; l.href = '/late.css'; document.head.append(l);
        const d = document.createElement('iframe'); d.src = '/late-frame.html'; document.body.append(d);`),
    '/late-frame.html': () => html('<img src="/in-late-frame.png">'),
    '/late.css': () => css('body{background:url(/late.png)}'),
    '/module.js': () => js('import "/imported.js"; import("/dynamic.js");'),
    '/imported.js': () => js('fetch("/from-module.json").then((response) => response.text())'),
    '/dynamic.js': () => js('export {}'),
    '/frame.js': () => js('fetch("/from-own-frame.json").then((response) => response.text())'),
  };
  const url = await listen((path) => {
    if (path === '/start') return { to: '/' };
    if (path === '/moved.png') return { to: '/target.png' };
    if (path.endsWith('.ttf')) return font;
    return pages[path]?.() ?? (path.endsWith('.json') ? { type: 'application/json', body: '{}' } : png());
  });

  return {
    url,
    other,
    served,
    release() {
      for (const answer of held.splice(0)) answer();
    },
    async close() {
      for (const server of servers) {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
    },
  };
}

const html = (body: string) => ({ type: 'text/html', body });
const css = (body: string) => ({ type: 'text/css', body });
const js = (body: string) => ({ type: 'text/javascript', body });
const png = () => ({ type: 'image/png', body: PNG });
