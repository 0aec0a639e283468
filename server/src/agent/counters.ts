/** What the agent has counted since its start, for Prometheus. */
export class Counters {
  /** By name and label, such as `connections_total` and `window="20"`. */
  readonly #counts = new Map<string, Map<string, number>>();

  add(name: CounterName, count = 1, label = ''): void {
    const counts = this.#counts.get(name) ?? new Map<string, number>();
    this.#counts.set(name, counts.set(label, (counts.get(label) ?? 0) + count));
  }

  /** @param routes prefixes by the window of their route */
  print(routes: ReadonlyMap<number, number>): string {
    const byWindow = new Map([...routes].map(([window, count]) => [`window="${window}"`, count]));
    return [
      ...Object.entries(COUNTERS).flatMap(([name, help]) =>
        printMetric(name, 'counter', help, this.#counts.get(name) ?? new Map()),
      ),
      ...printMetric('routes', 'gauge', 'Prefixes by the initial window of their route.', byWindow),
      '',
    ].join('\n');
  }
}

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

function printMetric(
  name: string,
  type: string,
  help: string,
  counts: ReadonlyMap<string, number>,
): string[] {
  const full = `hopwise_server_${name}`;
  const values = [...counts].map(([label, count]) => `${full}${label && `{${label}}`} ${count}`);
  return [`# HELP ${full} ${help}`, `# TYPE ${full} ${type}`, ...values];
}
