const COUNTERS = {
  log_lines_total: 'Lines read from the access log.',
  log_bad_lines_total: 'Lines that were none of the log format.',
  log_bytes_total: 'Bytes of the logged responses.',
  connections_total: 'Connections that ended or paused, by initial window.',
  segments_total: 'Segments with data.',
  retransmitted_total: 'Segments sent again.',
  timeouts_total: 'Connections with a timeout.',
  learned_connections_total: 'Connections that were learned from.',
  guarded_total: 'Times that a window was taken back for its losses.',
  state_errors_total: 'Failed writes of the state.',
} as const;
type CounterName = keyof typeof COUNTERS;

/** What the agent has counted since its start, for Prometheus. */
export class Counters {
  /** By name and, where there is one, initial window. */
  readonly #counts = new Map<CounterName, Map<number | null, number>>();

  add(name: CounterName, count = 1, window: number | null = null): void {
    const counts = this.#counts.get(name) ?? new Map<number | null, number>();
    this.#counts.set(name, counts.set(window, (counts.get(window) ?? 0) + count));
  }

  /** @param windows those of the routes at present */
  print(windows: readonly number[]): string {
    const routes = new Map<number, number>();
    for (const window of windows) routes.set(window, (routes.get(window) ?? 0) + 1);
    const counters = Object.entries(COUNTERS).map(([name, help]) =>
      printMetric(name, 'counter', help, this.#counts.get(name as CounterName) ?? []),
    );
    const gauge = printMetric('routes', 'gauge', 'Prefixes by the initial window of their route.', routes);
    return [...counters, gauge].join('');
  }
}

function printMetric(name: string, type: string, help: string, values: Iterable<[number | null, number]>) {
  const full = `hopwise_server_${name}`;
  const lines = [...values].map(([window, count]) =>
    window === null ? `${full} ${count}\n` : `${full}{window="${window}"} ${count}\n`,
  );
  return `# HELP ${full} ${help}\n# TYPE ${full} ${type}\n${lines.join('')}`;
}
