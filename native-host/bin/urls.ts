/** URLs that a person names on the command line, and the name under which they are requested. */
import { UsageError } from '../src/base/errors.ts';
import { quoteInput } from '../src/base/one-line.ts';
import { hostVersion } from '../src/base/version.ts';

/** How the names of recordings end. */
const RECORDING = /\.(har|json|zhar)(\.gz|\.zip)?$/i;

/** @returns the URLs in full. @throws UsageError for one that is not https */
export function readUrls(texts: readonly string[]): string[] {
  return texts.map((text) => {
    if (!URL.canParse(text) || new URL(text).protocol !== 'https:')
      throw new UsageError(
        `expected an https URL${RECORDING.test(text) ? ', or --har before a file' : ''}, got ${quoteInput(text)}`,
      );
    return new URL(text).href;
  });
}

export function userAgent(): string {
  return `hopwise-host/${hostVersion()}`;
}
