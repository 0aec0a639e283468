/** The routes that exist, of which those with a window are copies. */
import ipaddr from 'ipaddr.js';

type Prefix = ReturnType<typeof ipaddr.parseCIDR>;

interface Route {
  prefix: Prefix;
  /** What `ip` prints after the prefix: words with a value each. */
  words: string[];
}

/** What a copy has as well, and what a copy does without: where the route comes from and which of two comes first. */
const COPIED = ['via', 'dev', 'scope', 'src', 'mtu', 'advmss', 'initrwnd', 'quickack', 'congctl'];
const LEFT_OUT = ['proto', 'metric', 'pref', 'expires'];
const EVERYWHERE = { 4: '0.0.0.0/0', 6: '::/0' } as const;

/** The main routing table of both families. */
export class MainTable {
  readonly #routes: Route[];

  /** @param texts what `ip -o route show table main` prints, by family */
  constructor(texts: { 4: string; 6: string }) {
    this.#routes = ([4, 6] as const).flatMap((family) =>
      texts[family]
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => {
          const [first = '', ...words] = line.trim().split(/[\s\\]+/);
          const isPrefix = first === 'default' || /^[\da-f]*[.:]/.test(first);
          // A route of a type that a copy would not have, such as `blackhole`.
          if (!isPrefix) return { prefix: parsePrefix(words[0]!, family), words: [first] };
          return { prefix: parsePrefix(first, family), words };
        }),
    );
  }

  /**
   * The route to a prefix, as words of `ip route`, with an initial window.
   *
   * @returns null where the table treats addresses of the prefix differently, or in a way that a copy would not have, such as several next
   *   hops or a window that the administrator has set
   */
  withWindow(prefix: string, window: number): string | null {
    const wanted = ipaddr.parseCIDR(prefix);
    if (this.#routes.some((route) => route.prefix[1] > wanted[1] && contains(wanted, route.prefix)))
      return null;
    const [route] = this.#routes
      .filter((each) => contains(each.prefix, wanted))
      .sort((a, b) => b.prefix[1] - a.prefix[1] || metricOf(a) - metricOf(b));
    const copied: string[] = [];
    const words = [...(route?.words ?? [])];
    for (let name = words.shift(); name !== undefined; name = words.shift()) {
      if (name === 'onlink') copied.push(name);
      else if (COPIED.includes(name)) copied.push(name, words.shift()!);
      else if (LEFT_OUT.includes(name)) words.shift();
      else return null;
    }
    return copied.includes('dev') ? [prefix, ...copied, 'initcwnd', window].join(' ') : null;
  }
}

/** @param text also `default`, and an address alone */
function parsePrefix(text: string, family: 4 | 6): Prefix {
  if (text === 'default') return ipaddr.parseCIDR(EVERYWHERE[family]);
  return ipaddr.parseCIDR(text.includes('/') ? text : `${text}/${family === 4 ? 32 : 128}`);
}

/** Whether every address of `inner` is in `outer`. */
const contains = (outer: Prefix, [address, bits]: Prefix): boolean =>
  address.kind() === outer[0].kind() && bits >= outer[1] && address.match(outer);

/** The lowest is preferred. */
const metricOf = ({ words }: Route): number => Number(words[words.indexOf('metric') + 1]) || 0;
