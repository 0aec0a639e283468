import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/** Kind and initiator of a request, as paths of the site; the page itself is `/`. */
interface TrueEdge {
  kind: 'parser' | 'script' | 'style';
  from: string;
}

export interface HardSite {
  url: string;
  /** Paths in the order in which they were requested, the page's own left out. */
  served: string[];
  close(): Promise<void>;
}

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=',
  'base64',
);

/** Time between the pieces in which the page's markup arrives. */
const PIECE_MS = 250;

/**
 * The true edge of a request, which its path states: the initiator's path, `~`, and a name. Without an initiator the document is
 * meant: its parser, or an inline script where the name begins with `inline`.
 */
export function trueEdge(path: string): TrueEdge {
  const at = path.lastIndexOf('~');
  const from = path.slice(0, at);
  if (from === '/') return { kind: path.startsWith('/~inline') ? 'script' : 'parser', from };
  return { kind: from.endsWith('.css') ? 'style' : 'script', from };
}

/** Functions that each script of the page begins with; `own` is its path and `~`. */
const TOOLS = `
  const read = (name) => fetch(own + name).then((response) => response.text());
  const fan = (name, count) => Promise.all(Array.from({ length: count }, (_, i) => read(name + '-' + i + '.json')));
  const pixel = (name) => { new Image().src = own + name; };
  const add = (tag, properties, parent = document.body) => {
    const made = Object.assign(document.createElement(tag), properties);
    parent.append(made);
    return made;
  };
  const image = (name, parent) => add('img', { src: own + name }, parent);
  const script = (name, properties) => add('script', { src: own + name, ...properties }, document.head);
  const style = (name) => add('link', { rel: 'stylesheet', href: own + name }, document.head);
  const spin = (ms) => { const end = performance.now() + ms; while (performance.now() < end); };`;

/** Scripts and their answers' delays in milliseconds, by path. */
const SCRIPTS: Record<string, [delayMs: number, source: string]> = {
  // Parser-blocking, with children of each type while the parser waits.
  '/~blocking.js': [
    30,
    `image('1.png', document.head); style('1.css'); fan('fan', 5).then(() => { pixel('then.png'); read('then.json'); });
     script('ordered-1.js', { async: false }); script('ordered-2.js', { async: false }); script('async.js');
     pixel('pixel.png'); setTimeout(() => { read('timer.json'); image('timer.png', document.head); }, 120);`,
  ],
  '/~blocking.js~ordered-1.js': [90, `fan('fan', 3); pixel('pixel.png'); image('1.png', document.head);`],
  '/~blocking.js~ordered-2.js': [10, `fan('fan', 3); style('1.css'); script('late.js', { async: false });`],
  '/~blocking.js~ordered-2.js~late.js': [20, `read('1.json'); image('1.png', document.head);`],
  '/~blocking.js~async.js': [40, `fan('fan', 4); image('1.png', document.head);`],
  '/~async.js': [
    140,
    `spin(8); fan('fan', 5).then(() => { image('then-1.png'); image('then-2.png'); fan('then', 2); });
     image('1.png'); image('2.png'); pixel('pixel.png');
     setTimeout(() => { fan('timer', 2); image('timer.png'); }, 90);`,
  ],
  '/~deferred-1.js': [
    60,
    `fan('fan', 3); for (let i = 0; i < 6; i++) image(i + '.png');
     addEventListener('DOMContentLoaded', () => { image('ready.png'); read('ready.json'); });`,
  ],
  '/~deferred-2.js': [
    20,
    `add('iframe', { src: own + 'frame.html' }); style('1.css'); pixel('pixel.png'); fan('fan', 2);
     addEventListener('load', () => { fan('load', 2); image('load.png'); });`,
  ],
  '/~module.js': [30, `image('1.png'); image('2.png'); fan('fan', 3);`],
  '/~module.js~lib.js': [20, `fan('fan', 2); image('1.png');`],
  '/~middle.js': [
    80,
    `spin(4); for (let i = 0; i < 5; i++) image(i + '.png'); add('div', { innerHTML: '<img src="' + own + 'inner.png">' });
     add('img', { srcset: own + 'set.png 1x' }); document.querySelector('#changed').src = own + 'changed.png';
     script('chained.js', { onload: () => { pixel('loaded.png'); read('loaded.json'); } }); fan('fan', 4);`,
  ],
  '/~middle.js~chained.js': [30, `image('1.png'); fan('fan', 2); script('next.js');`],
  '/~middle.js~chained.js~next.js': [30, `image('1.png'); pixel('pixel.png'); read('1.json');`],
  '/~last.js': [20, `spin(3); image('1.png'); pixel('pixel.png'); fan('fan', 4);`],
  '/~async-last.js': [
    60,
    `image('1.png'); style('1.css'); fan('fan', 3); requestAnimationFrame(() => pixel('frame.png'));`,
  ],
};

const inline = (source: string) => `<script>{ const own = '/~inline-'; ${TOOLS} ${source} }</script>`;
const images = (name: string, count: number) =>
  Array.from({ length: count }, (_, i) => `<img src="/~${name}-${i}.png">`).join('\n');

const PIECES = [
  `<!doctype html><html><head><title>hard</title>
    <link rel="stylesheet" href="/~main.css">
    <script async src="/~async.js"></script><script defer src="/~deferred-1.js"></script>
    <script type="module" src="/~module.js"></script>
    ${inline(`fan('head', 3); pixel('head.png'); setTimeout(() => { read('timer.json'); }, 60);`)}
    <script src="/~blocking.js"></script>
    <script defer src="/~deferred-2.js"></script></head>
    <body><main><p>one</p>${images('first', 6)}`,
  `<section>${images('second', 6)}<img id="changed" src="/~unchanged.png">
    ${inline(`image('body.png'); pixel('body-pixel.png'); script('inserted.js');`)}
    <script src="/~middle.js"></script>${images('after-middle', 4)}</section>`,
  `${images('third', 6)}<script src="/~last.js"></script><script async src="/~async-last.js"></script>
    <iframe src="/~frame.html"></iframe>${inline(`fan('end', 3); image('end.png');`)}
    ${images('end', 3)}</main></body></html>`,
];

function answerOf(path: string): { type: string; body: string | Buffer; delayMs: number } {
  if (path.endsWith('.js')) {
    const [delayMs, source] = SCRIPTS[path] ?? [20, ''];
    const imports = path === '/~module.js' ? `import '${path}~lib.js';` : '';
    return {
      type: 'text/javascript',
      body: `${imports}{ const own = '${path}~'; ${TOOLS} ${source} }`,
      delayMs,
    };
  }
  if (path === '/~main.css') {
    return { type: 'text/css', body: `p{background:url(${path}~1.png)}`, delayMs: 20 };
  }
  if (path.endsWith('.css')) return { type: 'text/css', body: '', delayMs: 20 };
  if (path.endsWith('.json')) return { type: 'application/json', body: '{}', delayMs: 25 };
  if (path.endsWith('.html')) return { type: 'text/html', body: '<p>frame</p>', delayMs: 10 };
  return { type: 'image/png', body: PNG, delayMs: 10 };
}

/**
 * Starts a server of one page whose initiators are hard to find: markup in three pieces, between which scripts of each kind insert
 * elements, fetch in fans, and go on in callbacks. Its scripts' elements cause no request that its parser causes too.
 */
export async function startHardSite(): Promise<HardSite> {
  const served: string[] = [];
  const server = createServer(async (request, response) => {
    const path = request.url ?? '/';
    if (path === '/') return sendPieces(response);
    if (path !== '/favicon.ico') served.push(path);
    const { type, body, delayMs } = answerOf(path);
    await wait(delayMs);
    response.writeHead(200, { 'content-type': type, 'cache-control': 'no-store' }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    served,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function sendPieces(response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/html', 'cache-control': 'no-store' });
  for (const [index, piece] of PIECES.entries()) {
    if (index > 0) await wait(PIECE_MS);
    response.write(piece);
  }
  response.end();
}
