/** Resolves names: each once, different ones in parallel, whatever their connections and protocols. */
export class HostResolver {
  /** When each host's addresses are there. */
  readonly #readyMs = new Map<string, number>();

  /**
   * Asks for a host's addresses unless that has been done.
   *
   * @param lookupMs how long it takes
   * @returns milliseconds from now until they are there
   */
  resolve(host: string, lookupMs: number, nowMs: number): number {
    const readyMs = this.#readyMs.get(host);
    if (readyMs !== undefined) return Math.max(0, readyMs - nowMs);
    this.#readyMs.set(host, nowMs + lookupMs);
    return lookupMs;
  }
}

/** What is resolved for an origin: its host without the port, which other origins may share. */
export function hostOf(origin: string): string {
  const authority = origin.slice(origin.indexOf('://') + 3);
  const port = /:\d+$/.exec(authority);
  return port === null ? authority : authority.slice(0, port.index);
}
