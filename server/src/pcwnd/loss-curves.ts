import { groupBy, median } from '@hopwise/contract';
import type { WindowCount } from '@hopwise/pageload-emulator/econ';

/** ECON's sliding window, and the step in which it slides. */
const WINDOW_MS = 100_000;
const SLOT_MS = 10_000;
/** Numbers of parallel connections are told apart up to HTTP/1.1's six. */
const MAX_CONNECTIONS = 6;
/** Counts of the last so many clients and windows are kept in a slot. */
const MAX_ENTRIES = 50_000;
/** A client's own counts are used from so many rounds on; before that, its cluster's. */
const MIN_OWN_ROUNDS = 30;
/** The median needs so many clients; of fewer it is the mean. */
const MIN_CLIENTS = 3;

interface Entry extends WindowCount {
  client: string;
  cluster: string;
  connections: number;
}

interface Slot {
  sinceMs: number;
  entries: Map<string, Entry>;
}

/** Loss by congestion window and number of parallel connections, p(cwnd, npc), of each client and cluster over the last 100 s. */
export class LossCurves {
  #slots: Slot[] = [];

  add(
    client: string,
    cluster: string,
    connections: number,
    counts: readonly WindowCount[],
    nowMs: number,
  ): void {
    const { entries } = this.#slotAt(nowMs);
    const npc = Math.min(MAX_CONNECTIONS, Math.max(1, connections));
    for (const { cwnd, rounds, packets, lossEvents } of counts) {
      const key = `${client} ${npc} ${cwnd}`;
      const entry = entries.get(key);
      if (entry !== undefined) {
        entry.rounds += rounds;
        entry.packets += packets;
        entry.lossEvents += lossEvents;
      } else if (entries.size < MAX_ENTRIES) {
        entries.set(key, { client, cluster, connections: npc, cwnd, rounds, packets, lossEvents });
      }
    }
  }

  /**
   * The counts of a client, or, where it is new, those of its cluster: the rounds of all clients, with the median of their rates of loss.
   *
   * @param connections at once; any number unless given
   */
  read(client: string, cluster: string, connections: number | null, nowMs: number): WindowCount[] {
    const recent = this.#slots
      .filter(({ sinceMs }) => sinceMs > nowMs - WINDOW_MS)
      .flatMap(({ entries }) => [...entries.values()])
      .filter(
        (entry) => entry.cluster === cluster && (connections === null || entry.connections === connections),
      );
    const own = byWindow(recent.filter((entry) => entry.client === client));
    const ownRounds = own.flat().reduce((sum, { rounds }) => sum + rounds, 0);
    return (ownRounds >= MIN_OWN_ROUNDS ? own : byWindow(recent)).map(pool);
  }

  #slotAt(nowMs: number): Slot {
    const last = this.#slots.at(-1);
    if (last !== undefined && nowMs < last.sinceMs + SLOT_MS) return last;
    const slot: Slot = { sinceMs: nowMs, entries: new Map() };
    this.#slots = [...this.#slots.filter(({ sinceMs }) => sinceMs > nowMs - WINDOW_MS), slot];
    return slot;
  }
}

function byWindow(entries: readonly Entry[]): Entry[][] {
  const windows = groupBy(entries, ({ cwnd }) => cwnd);
  return [...windows].sort(([a], [b]) => a - b).map(([, own]) => own);
}

/** One window's counts of all clients. */
function pool(entries: readonly Entry[]): WindowCount {
  const sum = (name: 'rounds' | 'packets' | 'lossEvents', of = entries): number =>
    of.reduce((total, entry) => total + entry[name], 0);
  const clients = [...groupBy(entries, ({ client }) => client).values()];
  const rounds = sum('rounds');
  const rates = clients.map((own) => sum('lossEvents', own) / sum('rounds', own));
  const lossEvents = clients.length < MIN_CLIENTS ? sum('lossEvents') : Math.round(median(rates) * rounds);
  return { cwnd: entries[0]!.cwnd, rounds, packets: Math.max(rounds, sum('packets')), lossEvents };
}
