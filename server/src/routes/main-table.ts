/** The routes that exist, of which those with a window are copies. */
import { contains, formatPrefix, type Prefix, parsePrefix } from '../clusters/address.ts';

/** A route as `ip -j route show` prints it, as far as it matters here. */
interface PrintedRoute {
  dst: string;
  type?: string;
  gateway?: string;
  via?: unknown;
  dev?: string;
  scope?: string;
  prefsrc?: string;
  nexthops?: unknown;
  encap?: unknown;
  metric?: number;
  flags?: string[];
  metrics?: Record<string, unknown>[];
}

interface Route {
  prefix: Prefix;
  printed: PrintedRoute;
}

/** Settings of a route that a copy can have, as `ip` takes them. */
const SETTINGS: Readonly<Record<string, (value: unknown) => string | null>> = {
  mtu: number('mtu'),
  advmss: number('advmss'),
  initrwnd: number('initrwnd'),
  quickack: number('quickack'),
  congestion: (value) => (typeof value === 'string' && /^\w+$/.test(value) ? `congctl ${value}` : null),
};

function number(name: string): (value: unknown) => string | null {
  return (value) => (typeof value === 'number' ? `${name} ${value}` : null);
}

/** The main routing table of both families. */
export class MainTable {
  readonly #routes: Route[];

  /** @param texts JSON of `ip -j route show table main`, by family */
  constructor(texts: { 4: string; 6: string }) {
    this.#routes = ([4, 6] as const).flatMap((family) =>
      (JSON.parse(texts[family] || '[]') as PrintedRoute[]).flatMap((printed) => {
        const prefix = parsePrefix(printed.dst, family);
        return prefix === null ? [] : { prefix, printed };
      }),
    );
  }

  /**
   * The route to a prefix, as words of `ip route`, with an initial window.
   *
   * @returns null where the table treats addresses of the prefix differently, or in a way that a copy would not have, such as several next
   *   hops or a window that the administrator has set
   */
  withWindow(prefix: Prefix, window: number): string | null {
    if (this.#routes.some((route) => route.prefix.bits > prefix.bits && contains(prefix, route.prefix)))
      return null;
    const route = this.#routes
      .filter((each) => contains(each.prefix, prefix))
      .reduce<Route | null>((best, each) => (best === null || isBefore(each, best) ? each : best), null);
    if (route === null) return null;
    const {
      type = 'unicast',
      gateway,
      via,
      dev,
      scope,
      prefsrc,
      nexthops,
      encap,
      flags,
      metrics,
    } = route.printed;
    if (type !== 'unicast' || dev === undefined || nexthops !== undefined) return null;
    if (via !== undefined || encap !== undefined || flags?.some((flag) => flag !== 'onlink')) return null;
    const settings = Object.entries(Object.assign({}, ...(metrics ?? [])) as Record<string, unknown>).map(
      ([name, value]) => SETTINGS[name]?.(value) ?? null,
    );
    if (settings.includes(null)) return null;
    return [
      formatPrefix(prefix),
      ...(gateway === undefined ? [] : ['via', gateway]),
      ...['dev', dev],
      ...(scope === undefined ? [] : ['scope', scope]),
      ...(prefsrc === undefined ? [] : ['src', prefsrc]),
      ...(flags ?? []),
      ...settings,
      ...['initcwnd', String(window)],
    ].join(' ');
  }
}

/** Whether the kernel prefers it: the longer prefix, then the lower metric. */
const isBefore = (a: Route, b: Route): boolean =>
  a.prefix.bits > b.prefix.bits ||
  (a.prefix.bits === b.prefix.bits && (a.printed.metric ?? 0) < (b.printed.metric ?? 0));
