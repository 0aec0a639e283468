import { DAY_MS } from '@hopwise/contract';
import type { WindowChoice } from '../learn/window-controller.ts';

/** In force from a time on: a choice, no window of its own, or, while the kernel's table changes, one or the other. */
type InForce = WindowChoice | 'none' | 'changing';

/** Connections last this many changes at most before they are no longer learned from. */
const MAX_CHANGES = 16;
/** Nor do they last longer: the history of clusters whose clients are gone would grow for as long as the agent runs. */
const KEPT_MS = DAY_MS;
/** nginx accepts a connection this much later than the kernel has chosen its window. */
const ACCEPT_MS = 20;

/** Which window the connections of each cluster began with. */
export class WindowHistory {
  readonly #changes = new Map<string, { sinceMs: number; state: InForce }[]>();
  #latest: ReadonlyMap<string, WindowChoice> = new Map();
  /** What was in force before is not known. */
  #knownSinceMs = Number.NEGATIVE_INFINITY;

  /** Choices in force at present, by cluster. */
  get latest(): ReadonlyMap<string, WindowChoice> {
    return this.#latest;
  }

  /** Clusters whose history is kept. */
  get size(): number {
    return this.#changes.size;
  }

  /** Notes the choices that are in force after a change that began and ended at these times; other clusters have none. */
  note(choices: ReadonlyMap<string, WindowChoice>, beganMs: number, endedMs: number): void {
    for (const cluster of new Set([...this.#latest.keys(), ...choices.keys()])) {
      const [before, after] = [this.#latest.get(cluster), choices.get(cluster)];
      if (before?.window === after?.window && before?.reason === after?.reason) continue;
      const changes = [
        ...(this.#changes.get(cluster) ?? []),
        { sinceMs: beganMs - 1, state: 'changing' as const },
        { sinceMs: endedMs + ACCEPT_MS, state: after ?? ('none' as const) },
      ];
      this.#changes.set(cluster, changes.slice(-2 * MAX_CHANGES));
    }
    this.#latest = choices;
    this.#prune(beganMs - KEPT_MS);
  }

  /** What was in force when nginx accepted a connection. */
  at(cluster: string, connectedMs: number): InForce {
    if (connectedMs < this.#knownSinceMs) return 'changing';
    const changes = this.#changes.get(cluster) ?? [];
    const last = changes.findLast(({ sinceMs }) => sinceMs <= connectedMs);
    return last?.state ?? (changes.length === 2 * MAX_CHANGES ? 'changing' : 'none');
  }

  /** Forgets clusters that have had no window of their own since a time. */
  #prune(untilMs: number): void {
    this.#knownSinceMs = untilMs;
    for (const [cluster, changes] of this.#changes) {
      if (!this.#latest.has(cluster) && changes.at(-1)!.sinceMs < untilMs) this.#changes.delete(cluster);
    }
  }
}
