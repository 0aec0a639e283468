import { groupBy, median } from '@hopwise/contract';
import type { WindowCount } from '@hopwise/pageload-emulator/econ';
import { LRUCache } from 'lru-cache';
import type { ClusteredClient } from '../clusters/cluster-names.ts';

/** ECON's sliding window, and the step in which it slides. */
const WINDOW_MS = 100_000;
const STEP_MS = 10_000;
/** Numbers of parallel connections are distinguished up to HTTP/1.1's six. */
const MAX_CONNECTIONS = 6;
/** How many counts are kept, by step, client, connections and window: the last ones. */
const MAX_ENTRIES = 100_000;
/** The rounds from which on the counts of a client, or of a cluster, are used; before that, those of the next wider one are. */
const MIN_ROUNDS = 30;
/** The fewest clients of which the median is taken; of fewer it is the mean. */
const MIN_CLIENTS = 3;

type ClientNames = Pick<ClusteredClient, 'name' | 'narrow' | 'wide'>;

interface Entry extends WindowCount, ClientNames {
  sinceMs: number;
  connections: number;
}

/** Loss by congestion window and number of parallel connections, p(cwnd, npc), of each client and cluster over the last 100 s. */
export class LossCurves {
  readonly #entries = new LRUCache<string, Entry>({ max: MAX_ENTRIES });

  add(
    { name, narrow, wide }: ClientNames,
    connections: number,
    counts: readonly WindowCount[],
    nowMs: number,
  ): void {
    const npc = Math.min(MAX_CONNECTIONS, Math.max(1, connections));
    const sinceMs = nowMs - (nowMs % STEP_MS);
    for (const { cwnd, rounds, packets, lossEvents } of counts) {
      const key = `${sinceMs} ${name} ${npc} ${cwnd}`;
      const before = this.#entries.get(key) ?? { rounds: 0, packets: 0, lossEvents: 0 };
      this.#entries.set(key, {
        ...{ sinceMs, name, narrow, wide, connections: npc, cwnd },
        rounds: before.rounds + rounds,
        packets: before.packets + packets,
        lossEvents: before.lossEvents + lossEvents,
      });
    }
  }

  /**
   * The counts of a client, or, where it is new, those of the narrowest cluster that has sent enough: the rounds of all clients, with the
   * median of their rates of loss.
   *
   * @param connections at once; any number unless given
   */
  read(client: ClientNames, connections: number | null, nowMs: number): WindowCount[] {
    let counted: Entry[] = [];
    for (const level of ['name', 'narrow', 'wide'] as const) {
      counted = [...this.#entries.values()].filter(
        (entry) =>
          entry.sinceMs > nowMs - WINDOW_MS &&
          entry[level] === client[level] &&
          (connections === null || entry.connections === connections),
      );
      if (total(counted, 'rounds') >= MIN_ROUNDS) break;
    }
    return [...groupBy(counted, ({ cwnd }) => cwnd)]
      .sort(([a], [b]) => a - b)
      .map(([cwnd, entries]) => ({ cwnd, ...pool(entries) }));
  }
}

const total = (entries: readonly Entry[], name: 'rounds' | 'packets' | 'lossEvents'): number =>
  entries.reduce((sum, entry) => sum + entry[name], 0);

/** One window's counts of all clients. */
function pool(entries: readonly Entry[]): Omit<WindowCount, 'cwnd'> {
  const clients = [...groupBy(entries, ({ name }) => name).values()];
  const rates = clients.map((own) => total(own, 'lossEvents') / total(own, 'rounds'));
  const rounds = total(entries, 'rounds');
  return {
    rounds,
    packets: Math.max(rounds, total(entries, 'packets')),
    lossEvents:
      clients.length < MIN_CLIENTS ? total(entries, 'lossEvents') : Math.round(median(rates) * rounds),
  };
}
