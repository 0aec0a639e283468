/** `hopwise-host resolver`: where the helper looks up the addresses of hosts. */

import { UsageError } from '../src/base/errors.ts';
import { quoteInput } from '../src/base/one-line.ts';
import { isDohUrl, readDohUrl, writeDohUrl } from '../src/base/settings.ts';
import { print } from './output.ts';

/** Prints the resolver; with an argument sets it: a URL for DNS over HTTPS, or `off` for the system's. */
export function resolverCommand(argument: string | undefined): void {
  if (argument !== undefined) {
    const url = argument === 'off' ? '' : argument;
    if (url !== '' && !isDohUrl(url)) {
      throw new UsageError(
        `expected a URL such as https://dns.example/dns-query, or off, got ${quoteInput(argument)}`,
      );
    }
    writeDohUrl(url);
  }
  const url = readDohUrl();
  print(`resolver: ${url === '' ? "the system's" : url}`);
  if (argument !== undefined) print('libcurl uses it from the next start of the browser or probe on');
}
