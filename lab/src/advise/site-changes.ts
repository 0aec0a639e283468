/** Copies of a site whose pages follow advice that no setting of a server can follow. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type HeadLink, linkTag } from '@hopwise/pageload-emulator';
import type { Site } from '../sites/site.ts';
import type { GeneratedSite } from '../sites/write-site.ts';

type Resource = Site['resources'][number];

/** Text that `hopwise advise` counts as compressible: pages, style sheets and scripts. */
const TEXT = /^(text\/(html|css|javascript)|application\/(x-)?javascript)\b/;
/** Text that can hold URLs. */
const WITH_URLS = /^(text\/|application\/(x-)?(javascript|json)|image\/svg)/;

/** Reads the bodies of a site that was written to a folder. */
export async function readSiteFiles(site: Site, dir: string): Promise<GeneratedSite> {
  const names = new Set(site.resources.flatMap(({ body }) => ('file' in body ? [body.file] : [])));
  const files = new Map<string, Uint8Array>();
  for (const name of names) files.set(name, await readFile(join(dir, name)));
  return { site, files };
}

/** Whether a resource is text that comes as it is. */
export const isCompressible = (resource: Resource): resource is Resource & { body: { file: string } } =>
  isText(resource, TEXT) && 'file' in resource.body && header(resource, 'content-encoding') === null;

/** The site with its text compressed by gzip. Null where all of it is compressed already. */
export function compressText({ site, files }: GeneratedSite): GeneratedSite | null {
  const compressed = new Map(files);
  let count = 0;
  const resources = site.resources.map((resource): Resource => {
    if (!isCompressible(resource)) return resource;
    const file = `${resource.body.file}.gz`;
    compressed.set(file, gzipSync(files.get(resource.body.file)!));
    count += 1;
    return { ...resource, headers: { ...resource.headers, 'content-encoding': 'gzip' }, body: { file } };
  });
  return count === 0 ? null : { site: { ...site, resources }, files: compressed };
}

/**
 * The site with all resources at the origin of its page, and the URLs in its text changed to that. Null where there is one origin only,
 * where two origins have different resources of one path, and where text is compressed, so that its URLs cannot be changed.
 */
export function moveToOneOrigin({ site, files }: GeneratedSite): GeneratedSite | null {
  const own = new URL(site.entry).origin;
  const others = site.origins.map(({ origin }) => origin).filter((origin) => origin !== own);
  const isEncoded = (resource: Resource) =>
    isText(resource, WITH_URLS) && header(resource, 'content-encoding') !== null;
  if (others.length === 0 || site.resources.some(isEncoded)) return null;
  const keys = site.resources.map(
    ({ method, path, requestSha256 }) => `${method ?? ''} ${path} ${requestSha256 ?? ''}`,
  );
  if (new Set(keys).size < keys.length) return null;

  const moved = new Map(files);
  // Longer names first: one may begin with another.
  const names = others.toSorted((a, b) => b.length - a.length);
  const rename = (text: string) => names.reduce((changed, name) => changed.replaceAll(name, own), text);
  const resources = site.resources.map((resource): Resource => {
    if (isText(resource, WITH_URLS) && 'file' in resource.body) {
      const { file } = resource.body;
      moved.set(file, Buffer.from(rename(Buffer.from(files.get(file)!).toString('latin1')), 'latin1'));
    }
    const headers = Object.fromEntries(
      Object.entries(resource.headers).map(([name, value]) => [name, rename(value)]),
    );
    return { ...resource, origin: own, headers };
  });
  return { site: { ...site, resources }, files: moved };
}

/** The site with links at the beginning of its page's head. Null where there are none, and where the page is compressed. */
export function announce({ site, files }: GeneratedSite, links: readonly HeadLink[]): GeneratedSite | null {
  const page = site.resources.find(({ origin, path }) => `${origin}${path}` === site.entry);
  if (links.length === 0 || !page || !('file' in page.body) || header(page, 'content-encoding') !== null)
    return null;
  const { file } = page.body;
  const html = Buffer.from(files.get(file)!).toString('latin1');
  const head = /<head[^>]*>/i.exec(html);
  if (head === null) return null;
  const at = head.index + head[0].length;
  const changed = new Map(files);
  changed.set(file, Buffer.from(html.slice(0, at) + links.map(linkTag).join('') + html.slice(at), 'latin1'));
  return { site, files: changed };
}

/** The site entered through a redirect of another host, such as a domain without `www.`, with the round trip of the page's server. */
export function redirectToEntry({ site, files }: GeneratedSite): GeneratedSite {
  const own = site.origins.find(({ origin }) => origin === new URL(site.entry).origin)!;
  const origin = `https://go.${new URL(site.entry).host}`;
  const redirect: Resource = {
    origin,
    path: '/',
    status: 301,
    headers: { location: site.entry, 'content-type': 'text/plain' },
    body: { filler: 'bytes', bytes: 150 },
    thinkMs: 0,
  };
  const changed = {
    ...site,
    entry: `${origin}/`,
    origins: [...site.origins, { ...own, origin }],
    resources: [...site.resources, redirect],
  };
  return { site: changed, files };
}

/** Think time of an application that makes the page anew for each request; assumed. */
const SLOW_PAGE_MS = 400;

/** The site with a page that its server takes long to make. */
export function delayPage({ site, files }: GeneratedSite): GeneratedSite {
  const resources = site.resources.map(
    (resource): Resource =>
      `${resource.origin}${resource.path}` === site.entry
        ? { ...resource, thinkMs: resource.thinkMs + SLOW_PAGE_MS }
        : resource,
  );
  return { site: { ...site, resources }, files };
}

/** The site with files that no cache keeps. */
export function forbidCaching({ site, files }: GeneratedSite): GeneratedSite {
  const resources = site.resources.map((resource): Resource => {
    const kept = Object.entries(resource.headers).filter(([name]) => !CACHE_FIELDS.test(name));
    return { ...resource, headers: { ...Object.fromEntries(kept), 'cache-control': 'no-store' } };
  });
  return { site: { ...site, resources }, files };
}

const CACHE_FIELDS = /^(cache-control|expires|etag|last-modified)$/i;

const isText = (resource: Resource, types: RegExp): boolean =>
  types.test(header(resource, 'content-type') ?? '');

function header({ headers }: Resource, wanted: string): string | null {
  const own = Object.entries(headers).find(([name]) => name.toLowerCase() === wanted);
  return own?.[1] ?? null;
}
