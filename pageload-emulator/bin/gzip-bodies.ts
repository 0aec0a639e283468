import { readFile, stat } from 'node:fs/promises';
import { gunzipSync, gzipSync } from 'node:zlib';
import { removeUserinfo } from '@hopwise/contract';
import { jsonIn, withoutNaN } from '@hopwise/pageload-emulator';
import { note } from './output.ts';
import { shownName } from './read-input.ts';

/** Bodies are read whole, once unpacked; those of a larger file are left unknown. */
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
    note(`${shownName(file)}: too large to read its bodies: compression is assumed`);
    return sizes;
  }
  const har = harIn(await readFile(file));
  if (har === null) {
    note(`${shownName(file)}: its bodies are not in a HAR: compression is assumed`);
    return sizes;
  }
  for (const { request, response } of entriesOf(har.log?.entries)) {
    const { text, encoding } = response?.content ?? {};
    if (typeof request?.url !== 'string' || typeof text !== 'string' || text === '' || encoding === 'base64')
      continue;
    sizes.set(removeUserinfo(withoutFragment(request.url)), gzipSync(text).length);
  }
  return sizes;
}

/**
 * A file's JSON; null where the bodies are not in it, as in a zip file they are beside it, or where it is packed in another way.
 */
function harIn(content: Buffer): { log?: { entries?: unknown } | null } | null {
  const isGzipped = content[0] === 0x1f && content[1] === 0x8b;
  const plain = isGzipped ? gunzipSync(content) : content;
  if (plain.subarray(0, 2).toString('latin1') === 'PK') return null;
  const text = new TextDecoder(encodingOf(plain)).decode(plain);
  try {
    return JSON.parse(withoutNaN(jsonIn(text)));
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

function encodingOf([first, second]: Buffer): string {
  if (first === 0xff || second === 0) return 'utf-16le';
  return first === 0xfe || first === 0 ? 'utf-16be' : 'utf-8';
}

const entriesOf = (entries: unknown): Entry[] =>
  Array.isArray(entries) ? entries.filter((entry) => typeof entry === 'object' && entry !== null) : [];

const withoutFragment = (url: string): string => url.replace(/#.*/s, '');
