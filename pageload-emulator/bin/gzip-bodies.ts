import { readFile, stat } from 'node:fs/promises';
import { gunzipSync, gzipSync } from 'node:zlib';
import { shownName } from './read-named.ts';

/** Bodies are read whole; those of a larger file are left unknown. */
const MAX_FILE_BYTES = 200e6;

interface Entry {
  request?: { url?: unknown };
  response?: { content?: { text?: unknown; encoding?: unknown } };
}

/**
 * What gzip makes of the text in a HAR, at the level that zlib defaults to, bytes by URL. Empty for files without bodies and for standard
 * input, which can be read only once.
 */
export async function gzipBodies(file: string): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  if (file === '-') return sizes;
  if ((await stat(file)).size > MAX_FILE_BYTES) {
    process.stderr.write(`${shownName(file)}: too large to read its bodies: compression is assumed\n`);
    return sizes;
  }
  const content = await readFile(file);
  const isGzipped = content[0] === 0x1f && content[1] === 0x8b;
  const json = (isGzipped ? gunzipSync(content) : content).toString().replace(/^\uFEFF/, '');
  const har = JSON.parse(json) as { log?: { entries?: unknown } | null };
  for (const { request, response } of entriesOf(har.log?.entries)) {
    const { text, encoding } = response?.content ?? {};
    if (typeof request?.url !== 'string' || typeof text !== 'string' || text === '' || encoding === 'base64')
      continue;
    sizes.set(withoutFragment(request.url), gzipSync(text).length);
  }
  return sizes;
}

const entriesOf = (entries: unknown): Entry[] =>
  Array.isArray(entries) ? entries.filter((entry) => typeof entry === 'object' && entry !== null) : [];

const withoutFragment = (url: string): string => url.replace(/#.*/s, '');
