/** Bodies of a structure replay. */

import type { SeededRandom } from '../random.ts';
import { padFont, readFont } from '../sites/fonts.ts';
import type { Site } from '../sites/site.ts';
import { C_COMMENT, fit, HTML_COMMENT, type Piece } from './fit.ts';
import { inMarkup, type PlannedRequest, type ReplayNode, redirectTarget } from './node.ts';
import { RUNTIME, statementFor } from './runtime.ts';

type BodyNode = ReplayNode<PlannedRequest>;

interface ReplayBody {
  body: Site['resources'][number]['body'];
  /** Contents of `body.file`. */
  file?: Uint8Array;
  contentType: string;
  encoding?: 'gzip';
}

/** Size at which the server can make an image of any width and height used here. */
const MIN_FILLER_PNG_BYTES = 400;
const MAX_SIDE_PIXELS = 1200;

/** The body of `node`, whose file, if any, is named `name`. */
export function replayBody(node: BodyNode, name: string, random: SeededRandom): ReplayBody {
  if (redirectTarget(node) !== null) return filler(node.bytes, 'text/plain');
  switch (node.type) {
    case 'document':
    case 'iframe':
      return text(name, 'text/html; charset=utf-8', fit(markup(node), node.bytes, HTML_COMMENT, random));
    case 'style':
      return text(
        name,
        'text/css; charset=utf-8',
        fit([{ place: 0, text: rules(node.children) }], node.bytes, C_COMMENT, random),
      );
    case 'script': {
      const statement = statementFor(
        node.children.filter(({ means }) => means === 'script'),
        node.busyMs,
      );
      // A frame may lack the runtime.
      const guarded = statement === '' ? '' : `self.R&&${statement};`;
      return text(
        name,
        'text/javascript; charset=utf-8',
        fit([{ place: 0, text: guarded }], node.bytes, C_COMMENT, random),
      );
    }
    case 'font': {
      const font = readFont('small');
      if (node.bytes < font.length) return filler(node.bytes, 'font/woff2');
      return {
        body: { file: name },
        file: padFont(font, node.bytes, (count) => random.bytes(count)),
        contentType: 'font/woff2',
      };
    }
    case 'image':
      return image(node, name);
    default:
      return filler(node.bytes, 'application/octet-stream');
  }
}

const filler = (bytes: number, contentType: string): ReplayBody => ({
  body: { filler: 'bytes', bytes },
  contentType,
});

function text(name: string, contentType: string, { body, encoding }: ReturnType<typeof fit>): ReplayBody {
  return { body: { file: name }, file: body, contentType, ...(encoding === null ? {} : { encoding }) };
}

function image(node: BodyNode, name: string): ReplayBody {
  if (node.bytes >= MIN_FILLER_PNG_BYTES) {
    const { width, height } = sidesOf(node);
    return { body: { filler: 'png', bytes: node.bytes, width, height }, contentType: 'image/png' };
  }
  if (node.bytes < TINY_GIF.length) return filler(node.bytes, 'image/gif');
  const gif = new Uint8Array(node.bytes);
  gif.set(TINY_GIF);
  return { body: { file: name }, file: gif, contentType: 'image/gif' };
}

/** One transparent pixel (GIF89a); bytes after the trailer are ignored. */
const TINY_GIF = new Uint8Array([
  ...new TextEncoder().encode('GIF89a'),
  // Screen of 1 × 1, two colours: white, black.
  1,
  0,
  1,
  0,
  0x80,
  0,
  0,
  0xff,
  0xff,
  0xff,
  0,
  0,
  0,
  // Graphic control: colour 0 is transparent.
  0x21,
  0xf9,
  4,
  1,
  0,
  0,
  0,
  0,
  // Image of 1 × 1; two-bit codes: clear, 0, end.
  0x2c,
  0,
  0,
  0,
  0,
  1,
  0,
  1,
  0,
  0,
  2,
  2,
  0x44,
  1,
  0,
  0x3b,
]);

/** About one byte for each pixel, as in compressed photographs. */
function sidesOf({ bytes }: BodyNode): { width: number; height: number } {
  const width = Math.min(MAX_SIDE_PIXELS, Math.max(16, Math.round(Math.sqrt((bytes * 4) / 3))));
  return { width, height: Math.round((width * 3) / 4) };
}

// Markup

function markup(document: BodyNode): Piece[] {
  const tags = inMarkup(document);
  const needsRuntime = document.children.length > 0;
  const inline = document.children.filter(({ means }) => means === 'style');
  return [
    {
      place: 0,
      text: `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Replay</title><link rel="icon" href="data:,">${preconnects(document)}${needsRuntime ? `<script>${RUNTIME}</script>` : ''}${inline.length > 0 ? `<style>${rules(inline)}</style>` : ''}</head><body><p>Replay of a recorded page.</p>${styledElements(document)}`,
    },
    ...tags
      .map((node) => ({ place: node.place, text: tag(node, tags) }))
      .filter((piece) => piece.text !== ''),
    {
      place: 1,
      text: `${tags
        .filter(({ means }) => means === 'preload')
        .map((node) => element(node))
        .join('')}</body></html>`,
    },
  ];
}

const preconnects = ({ connectsTo = [] }: BodyNode): string =>
  connectsTo.map((origin) => `<link rel="preconnect" href="${origin}">`).join('');

function tag(node: BodyNode, all: BodyNode[]): string {
  if (node.means === 'preload') return preload(node);
  if (node.means === 'markup') return element(node);
  if (node.means !== 'script' || node.after !== null) return '';
  // Includes the requests that wait for its end.
  const made = all.filter((other) => other === node || waitsFor(other, node));
  return `<script>${statementFor(made, 0)}</script>`;
}

function waitsFor(node: BodyNode, other: BodyNode): boolean {
  for (let at = node.after; at !== null; at = at.after) if (at === other) return true;
  return false;
}

function element(node: BodyNode): string {
  switch (node.type) {
    case 'style':
      return `<link rel="stylesheet" href="${node.url}"${node.request.renderBlocking === false ? ' media="print" onload="this.media=&quot;all&quot;"' : ''}>`;
    case 'script':
      return `<script${node.blocksParser ? '' : ' async'} src="${node.url}"></script>`;
    case 'image': {
      const { width, height } = sidesOf(node);
      return `<img src="${node.url}" width="${Math.min(width, 240)}" height="${Math.min(height, 180)}" alt="">`;
    }
    case 'document':
    case 'iframe':
      return `<iframe src="${node.url}"></iframe>`;
    case 'beacon':
      return `<script>${statementFor([node], 0)}</script>`;
    default:
      return node.means === 'preload' ? '' : preload(node);
  }
}

function preload(node: BodyNode): string {
  const as =
    { style: 'style', script: 'script', image: 'image', font: 'font' }[node.type as string] ?? 'fetch';
  const cors = as === 'font' || as === 'fetch' ? ' crossorigin' : '';
  return `<link rel="preload" as="${as}"${cors} href="${node.url}">`;
}

// Styles. Names contain the request's id, which is unique on the page.

function rules(children: BodyNode[]): string {
  const styled = children.filter(({ means }) => means === 'style');
  const of = (type: BodyNode['type']) => styled.filter((node) => node.type === type);
  return [
    ...of('style').map(({ url }) => `@import url("${url}");`),
    ...of('font').map(
      ({ url, request }) =>
        `@font-face{font-family:f${request.id};src:url("${url}")}.f${request.id}{font-family:f${request.id}}`,
    ),
    ...of('image').map(({ url, request }) => `.b${request.id}{background-image:url("${url}")}`),
  ].join('');
}

/** The elements that the styles of `document` and of its descendants apply to. */
function styledElements(document: BodyNode): string {
  const elements: string[] = [];
  const visit = (node: BodyNode) => {
    for (const child of node.children) {
      if (child.means === 'style' && child.type === 'font')
        elements.push(`<span class="f${child.request.id}">Replay</span>`);
      if (child.means === 'style' && child.type === 'image')
        elements.push(`<div class="b${child.request.id}" style="height:2px"></div>`);
      if (child.type !== 'iframe') visit(child);
    }
  };
  visit(document);
  return elements.join('');
}
