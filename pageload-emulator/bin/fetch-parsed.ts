import { firstLine, removeUserinfoInText } from '@hopwise/contract';
import { printable } from '@hopwise/contract/terminal';
import { InputError } from '@hopwise/pageload-emulator';

/** A curve of loss has a few kilobytes. */
const MAX_BYTES = 1e6;
const TIMEOUT_MS = 10_000;
const THIS_MACHINE = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Fetches a small text over HTTPS, or over HTTP from this machine, where nobody can change it on the way, and parses it.
 *
 * @throws InputError whose message names the URL
 */
export async function fetchParsed<T>(text: string, parse: (text: string) => T): Promise<T> {
  try {
    return parse(await fetchSmall(text));
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw new InputError(`${printable(removeUserinfoInText(text), 200)}: ${error.message}`);
  }
}

async function fetchSmall(text: string): Promise<string> {
  if (!URL.canParse(text)) throw new InputError('expected a URL');
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') throw new InputError('expected a URL without a password');
  if (url.protocol !== 'https:' && !THIS_MACHINE.includes(url.hostname))
    throw new InputError('expected https, or http on this machine alone');
  try {
    // A redirect could lead anywhere, also to this machine.
    const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (!response.ok) throw new InputError(`expected an answer with status 200, got ${response.status}`);
    return await readBounded(response);
  } catch (error) {
    if (error instanceof InputError) throw error;
    throw new InputError(`expected an answer, got ${firstLine((error as Error).cause ?? error)}`);
  }
}

async function readBounded({ body }: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of body ?? []) {
    bytes += part.length;
    if (bytes > MAX_BYTES) throw new InputError(`expected at most ${MAX_BYTES / 1e6} MB, got more`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}
