/** `hopwise-host resolver`: where the helper looks up the addresses of hosts. */
import { isDohUrl, readDohUrl, writeDohUrl } from '../src/base/settings.ts';
import { UsageError } from '../src/base/usage-error.ts';

/** Prints the resolver; with an argument sets it: a URL for DNS over HTTPS, or `off` for the system's. */
export function resolverCommand(argument: string | undefined, print: (text: string) => void): void {
  if (argument !== undefined) {
    const url = argument === 'off' ? '' : argument;
    if (url !== '' && !isDohUrl(url)) {
      const found = argument.replace(/\p{Cc}/gu, '?').slice(0, 200);
      throw new UsageError(`expected a URL such as https://dns.example/dns-query, or off, found "${found}"`);
    }
    writeDohUrl(url);
  }
  const url = readDohUrl();
  print(`resolver: ${url === '' ? "the system's" : url}`);
  if (argument !== undefined) print('libcurl uses it from the next start of the browser or probe on');
}
