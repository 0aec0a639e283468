/** Resolves host names: each once for all connections and protocols, different names in parallel. */
export class HostResolver {
  /** When each host's addresses are known. */
  readonly #readyMs = new Map<string, number>();

  /**
   * Starts a lookup of a host's addresses unless there has been one.
   *
   * @param lookupMs how long a lookup takes
   * @returns milliseconds from now until the addresses are known
   */
  resolve(host: string, lookupMs: number, nowMs: number): number {
    const readyMs = this.#readyMs.get(host);
    if (readyMs !== undefined) return Math.max(0, readyMs - nowMs);
    this.#readyMs.set(host, nowMs + lookupMs);
    return lookupMs;
  }
}

/** The name to resolve for an origin: its host without the port, which other origins may share. */
export function hostOf(origin: string): string {
  const authority = origin.slice(origin.indexOf('://') + 3);
  const port = /:\d+$/.exec(authority);
  return port === null ? authority : authority.slice(0, port.index);
}
