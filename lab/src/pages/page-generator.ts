import { SeededRandom } from '../random.ts';
import { padFont, readFont } from '../sites/fonts.ts';
import { type Site, siteOf } from '../sites/site.ts';
import type { GeneratedSite } from '../sites/write-site.ts';
import { fill, json, moduleScript, script, stylesheet } from './code.ts';
import { app } from './kinds/app.ts';
import type { Kind, PictureStyle } from './kinds/kind.ts';
import { news } from './kinds/news.ts';
import { shop } from './kinds/shop.ts';
import {
  type ByType,
  isImage,
  type PagePlan,
  type PageSpec,
  type PlannedResource,
  planPage,
  RESOURCE_TYPES,
  type Role,
  typeOf,
} from './plan.ts';
import { MIN_PNG_BYTES, pngOfSize } from './png.ts';
import { sentence } from './words.ts';

export const KINDS = { shop, news, app } as const;

export type KindName = keyof typeof KINDS;

export interface SiteSpec extends PageSpec {
  kind: KindName;
}

const CONTENT_TYPE: Record<string, string> = {
  '': 'text/html; charset=utf-8',
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  mjs: 'text/javascript; charset=utf-8',
  json: 'application/json',
  woff2: 'font/woff2',
  png: 'image/png',
};

/**
 * A page of the given measures with all its bodies: exactly `requests` requests on exactly `origins`
 * origins and, together, `bytes` bytes. The same spec gives the same bytes.
 *
 * @throws {RangeError} naming the measure that is out of range or cannot be met.
 */
export function generateSite(spec: SiteSpec): GeneratedSite {
  const kind: Kind = KINDS[spec.kind];
  if (kind === undefined)
    throw new RangeError(`kind ${JSON.stringify(spec.kind)}: expected ${Object.keys(KINDS).join(', ')}`);
  const plan = planPage(spec, kind.proportions);
  if (spec.types) sizeByType(plan, spec.types.bytes);
  const fonts = fontBodies(plan, kind, spec);
  shrinkTo(plan, spec.bytes - totalBytes([...fonts.values()]));
  const bodies = new Map<number, Uint8Array>(fonts);
  for (const resource of plan.resources) {
    if (resource.role === 'font' || isImage(resource.role)) continue;
    bodies.set(
      resource.id,
      new TextEncoder().encode(textBody(resource, plan, kind, ownRandom(spec, resource))),
    );
  }
  sizeImages(plan, spec.bytes - totalBytes([...bodies.values()]), spec.bytes);
  for (const resource of plan.resources) {
    if (!isImage(resource.role)) continue;
    const random = ownRandom(spec, resource);
    const { width, height, artist } = kind.pictures[resource.role] as PictureStyle;
    bodies.set(
      resource.id,
      pngOfSize(artist(random, resource.index), width, height, resource.bytes, (count) =>
        random.bytes(count),
      ),
    );
  }
  return assemble(plan, bodies);
}

const totalBytes = (bodies: Uint8Array[]): number => bodies.reduce((sum, body) => sum + body.length, 0);

/** Each resource has its own random numbers: changing one body leaves the others unchanged. */
const ownRandom = (spec: SiteSpec, resource: PlannedResource): SeededRandom =>
  new SeededRandom(Math.imul(spec.seed + 1, 0x9e3779b1) ^ Math.imul(resource.id + 1, 0x85ebca6b));

/** Scales the sizes of each type to their sum, keeping the resources' proportions. */
function sizeByType(plan: PagePlan, bytes: ByType): void {
  for (const type of RESOURCE_TYPES) {
    const own = plan.resources.filter(({ role }) => typeOf(role) === type);
    const planned = own.reduce((sum, resource) => sum + resource.bytes, 0);
    for (const resource of own)
      resource.bytes = Math.max(1, Math.round((resource.bytes / planned) * bytes[type]));
  }
}

/** Fonts in their own size, or in the planned sizes where the page has sizes by type. */
function fontBodies(plan: PagePlan, kind: Kind, spec: SiteSpec): Map<number, Uint8Array> {
  const bodies = new Map<number, Uint8Array>();
  for (const resource of plan.by('font')) {
    const { name } = kind.fonts[resource.index % kind.fonts.length] as Kind['fonts'][number];
    const own = readFont(name);
    const font = spec.types && resource.bytes < own.length ? readFont('small') : own;
    const random = ownRandom(spec, resource);
    const body = padFont(font, spec.types ? resource.bytes : font.length, (count) => random.bytes(count));
    bodies.set(resource.id, body);
    resource.bytes = body.length;
  }
  return bodies;
}

/** Shrinks everything except fonts when the total exceeds `bytes`. */
function shrinkTo(plan: PagePlan, bytes: number): void {
  const others = plan.resources.filter(({ role }) => role !== 'font');
  const factor = bytes / others.reduce((total, resource) => total + resource.bytes, 0);
  if (factor >= 1) return;
  for (const resource of others) resource.bytes = Math.max(1, Math.floor(resource.bytes * factor));
}

/** Gives the images exactly the page's remaining bytes after text and fonts. */
function sizeImages(plan: PagePlan, bytes: number, wanted: number): void {
  const images = plan.resources.filter(({ role }) => isImage(role));
  const floor = images.length * MIN_PNG_BYTES;
  if (bytes < floor) {
    throw new RangeError(
      `bytes ${wanted}: a page of this kind with ${plan.resources.length} requests needs at least ${wanted - bytes + floor}`,
    );
  }
  const sum = images.reduce((total, image) => total + image.bytes, 0);
  let left = bytes;
  for (const image of images) {
    image.bytes = MIN_PNG_BYTES + Math.floor((image.bytes / sum) * (bytes - floor));
    left -= image.bytes;
  }
  const first = images[0];
  if (first) first.bytes += left;
}

function textBody(resource: PlannedResource, plan: PagePlan, kind: Kind, random: SeededRandom): string {
  const { role, bytes } = resource;
  const name = `${role} ${resource.index + 1}`;
  const steps = Math.round(kind.steps * random.logNormal(0.5));
  switch (role) {
    case 'document':
      return padHtml(kind.document(plan, random), bytes, random);
    case 'frame':
      return padHtml(kind.frame(resource, random), bytes, random);
    case 'style':
    case 'import-style':
      return stylesheet(random, name, bytes, styleRules(resource, kind));
    case 'module':
    case 'child-module': {
      const imports = resource.children
        .filter((child) => child.role === 'child-module')
        .map(({ url }) => url);
      return moduleScript(random, name, bytes, steps, imports, statements(resource, kind, random));
    }
    case 'json':
      return json(random, Math.max(bytes, 64));
    default:
      return script(random, name, bytes, steps, statements(resource, kind, random));
  }
}

/** Pads a document with serialised application state for its scripts. */
function padHtml(html: string, bytes: number, random: SeededRandom): string {
  const end = '</body>';
  const at = html.lastIndexOf(end);
  const open = '<script type="application/json">[';
  const close = '""]</script>';
  const room = bytes - Buffer.byteLength(html);
  if (room < open.length + close.length + 2) return html;
  const state = fill(open, room - close.length, () => `${JSON.stringify(sentence(random))},\n`);
  return html.slice(0, at) + state + close + html.slice(at);
}

function styleRules(resource: PlannedResource, kind: Kind): string {
  const of = (role: Role) => resource.children.filter((child) => child.role === role);
  return [
    ...of('import-style').map(({ url }) => `@import url("${url}");`),
    ...of('font').map(({ url, index }) => {
      const { weight } = kind.fonts[index % kind.fonts.length] as Kind['fonts'][number];
      return `@font-face{font-family:F${index};font-style:normal;font-weight:${weight === 400 ? '100 500' : '100 900'};font-display:swap;src:url("${url}") format("woff2")}`;
    }),
    resource.role === 'style' && resource.index === 0 ? kind.rules : '',
    ...of('background').map(({ url, index }) => `.bg-${index}{background-image:url("${url}")}`),
  ].join('\n');
}

/** The statements of a script: load its children, each by its role's means, and the kind's own statements. */
function statements(resource: PlannedResource, kind: Kind, random: SeededRandom): string {
  const loads = resource.children.map((child) => {
    const url = JSON.stringify(child.url);
    switch (child.role) {
      case 'chain-script':
        return `var e=document.createElement("script");e.src=${url};document.head.appendChild(e);`;
      case 'late-image': {
        const { width, height } = kind.pictures[child.role] as PictureStyle;
        const { title, detail } = kind.caption(random, child.index);
        return `var b=document.createElement("article"),i=document.createElement("img"),h=document.createElement("h3"),d=document.createElement("small");b.className="item";i.width=${width};i.height=${height};i.alt="";i.src=${url};h.textContent=${JSON.stringify(title)};d.textContent=${JSON.stringify(detail)};b.append(i,h,d);document.querySelector('[data-slot="late"]').appendChild(b);`;
      }
      case 'frame':
        return `var f=document.createElement("iframe");f.title="Advertisement";f.src=${url};var s=document.querySelectorAll('[data-slot="frames"]');s[${child.index}%s.length].appendChild(f);`;
      case 'json':
        return `fetch(${url}).then(function(r){return r.json()}).then(function(d){var t=document.querySelector('[data-live="${child.index}"]');if(t&&d.items[0]){t.textContent=d.items[0].text}});`;
      case 'child-module':
        return '';
      default:
        throw new TypeError(`a script cannot load a ${child.role}`);
    }
  });
  const all = [...loads, kind.statements(resource, random)].filter((statement) => statement !== '');
  if (all.length === 0) return '';
  const body = `function start(){${all.join('\n')}}`;
  // An async script may run before its target elements are parsed.
  return resource.role === 'async-script'
    ? `${body}\nif(document.readyState==="loading"){document.addEventListener("DOMContentLoaded",start)}else{start()}`
    : `${body}\nstart();`;
}

function assemble(plan: PagePlan, bodies: Map<number, Uint8Array>): GeneratedSite {
  const files = new Map<string, Uint8Array>();
  const resources = plan.resources.map((resource): Site['resources'][number] => {
    const host = new URL(resource.origin).host;
    const file = `${host}${resource.path === '/' ? '/index.html' : resource.path}`;
    files.set(file, bodies.get(resource.id) as Uint8Array);
    const extension = /\.(\w+)$/.exec(resource.path)?.[1] ?? '';
    return {
      origin: resource.origin,
      path: resource.path,
      status: 200,
      headers: {
        'content-type': CONTENT_TYPE[extension] as string,
        'cache-control':
          resource.role === 'document' || resource.role === 'frame' ? 'no-cache' : 'public, max-age=86400',
        'access-control-allow-origin': '*',
        'timing-allow-origin': '*',
      },
      body: { file },
      thinkMs: resource.thinkMs,
    };
  });
  const { name, origins } = plan;
  return { site: siteOf({ name, entry: `${origins[0]?.origin}/`, origins }, resources), files };
}
