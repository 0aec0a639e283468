import type { WindowChoice } from '../learn/window-controller.ts';

/** In force from a time on: a choice, no window of its own, or, while the kernel's table changes, one or the other. */
export type InForce = WindowChoice | 'none' | 'changing';

/** Connections last this many changes at most before they are no longer learned from. */
const MAX_CHANGES = 16;
/** nginx accepts a connection this much later than the kernel has chosen its window. */
const ACCEPT_MS = 20;

/** Which window the connections of each cluster began with. */
export class WindowHistory {
  readonly #changes = new Map<string, { sinceMs: number; state: InForce }[]>();

  /** Notes that a window is in force after a change that began and ended at these times. */
  note(cluster: string, state: InForce, beganMs: number, endedMs: number): void {
    const before = this.#changes.get(cluster) ?? [];
    const changes = [
      ...before,
      { sinceMs: beganMs - 1, state: 'changing' as const },
      { sinceMs: endedMs + ACCEPT_MS, state },
    ];
    this.#changes.set(cluster, changes.slice(-2 * MAX_CHANGES));
  }

  /** What was in force when nginx accepted a connection. */
  at(cluster: string, connectedMs: number): InForce {
    const changes = this.#changes.get(cluster);
    if (changes === undefined) return 'none';
    const last = changes.findLast(({ sinceMs }) => sinceMs <= connectedMs);
    if (last !== undefined) return last.state;
    return changes.length === 2 * MAX_CHANGES ? 'changing' : 'none';
  }
}
