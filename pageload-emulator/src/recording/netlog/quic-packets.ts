import type { QuicPackets } from '@hopwise/contract';

/** Numbers of packets, from one to another. */
type PacketRange = [first: number, last: number];

/** The packets that came over a QUIC connection after its handshake, by their numbers. */
export class ArrivedPackets {
  readonly #ranges: PacketRange[] = [];

  /** Adds packets with these numbers. */
  add(first: number, last: number): void {
    const latest = this.#ranges.at(-1);
    if (latest !== undefined && first === latest[1] + 1) latest[1] = last;
    else this.#ranges.push([first, last]);
  }

  /** Lists the numbers without gaps, in their order. */
  listRanges(): PacketRange[] {
    const merged: PacketRange[] = [];
    for (const [first, last] of this.#ranges.toSorted((a, b) => a[0] - b[0])) {
      const latest = merged.at(-1);
      if (latest !== undefined && first <= latest[1] + 1) latest[1] = Math.max(latest[1], last);
      else merged.push([first, last]);
    }
    return merged;
  }
}

/** Counts the packets of connections and the gaps between those that arrived; null without any. */
export function countPackets(connections: readonly ArrivedPackets[]): QuicPackets | null {
  let sent = 0;
  let lossEvents = 0;
  for (const connection of connections) {
    const ranges = connection.listRanges();
    if (ranges.length === 0) continue;
    sent += ranges.at(-1)![1] - ranges[0]![0] + 1;
    lossEvents += ranges.length - 1;
  }
  return sent === 0 ? null : { sent, lossEvents };
}
