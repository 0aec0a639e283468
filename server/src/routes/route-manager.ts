import { firstLine } from '@hopwise/contract';
import { ProgramKilled } from '../util/run-program.ts';
import {
  beginRoutes,
  changeRoutes,
  PROTOCOL,
  type RoutingTables,
  readTables,
  takeBackRoutes,
} from './ip-command.ts';
import { MainTable } from './main-table.ts';

/** A signal reaches a program once, but several may be sent, as by an impatient user. */
const MAX_TRIES = 5;

/** The initial window that connections to a prefix are to begin with. */
interface WantedRoute {
  prefix: string;
  window: number;
}

/** Keeps a routing table as wanted. A dry one only says what it would do. */
export class RouteManager {
  readonly #table: number;
  readonly #isDry: boolean;
  readonly #say: (line: string) => void;
  /** Words of `ip route` by prefix, as the agent has set them: the kernel may have removed some since. */
  #installed = new Map<string, string>();
  /** What was last said of a change that failed. */
  #trouble = '';
  #main: { texts: string; table: MainTable } | null = null;

  constructor(table: number, isDry: boolean, say: (line: string) => void) {
    this.#table = table;
    this.#isDry = isDry;
    this.#say = say;
  }

  /** Takes back what a killed agent left and begins anew. */
  async begin(): Promise<void> {
    if (this.#isDry) return;
    const left = await takeBackRoutes(this.#table);
    if (left > 0) this.#say(`took back ${left} routes that an agent had left`);
    await beginRoutes(this.#table);
  }

  /**
   * Makes the table have these routes and no others. Where the main table has changed, so do the copies of its routes. Where the kernel refuses
   * a change, as when a link goes down at that moment, all are taken back, to be set anew with the next call.
   *
   * @returns prefixes that have a route now
   */
  async apply(wanted: readonly WantedRoute[]): Promise<ReadonlySet<string>> {
    const { main: texts, own } = await readTables(this.#table);
    const main = this.#parseMain(texts);
    if (!this.#isDry)
      for (const prefix of this.#installed.keys()) if (!own.has(prefix)) this.#installed.delete(prefix);
    const next = new Map<string, string>();
    for (const { prefix, window } of wanted) {
      const route = main.withWindow(prefix, window);
      if (route !== null) next.set(prefix, route);
    }
    const removed = [...this.#installed.keys()].filter((prefix) => !next.has(prefix));
    const replaced = [...next].filter(([prefix, route]) => this.#installed.get(prefix) !== route);
    const changes = [
      ...removed.map((prefix) => `del ${prefix}`),
      ...replaced.map(([, route]) => `replace ${route}`),
    ].map((change) => `route ${change} table ${this.#table} proto ${PROTOCOL}`);
    if (this.#isDry) for (const line of changes) this.#say(`would run: ip ${line}`);
    else if (changes.length > 0 && !(await this.#change(changes))) return new Set();
    this.#installed = next;
    return new Set(next.keys());
  }

  /** @returns whether all is as wanted; otherwise there are no routes */
  async #change(changes: readonly string[]): Promise<boolean> {
    try {
      await changeRoutes(changes);
      this.#trouble = '';
      return true;
    } catch (error) {
      if (error instanceof ProgramKilled) throw error;
      const trouble = firstLine(error);
      if (trouble !== this.#trouble) this.#say(`routes could not be changed, and are set anew: ${trouble}`);
      this.#trouble = trouble;
    }
    this.#installed = new Map();
    await this.end();
    await beginRoutes(this.#table);
    return false;
  }

  /** Takes everything back, again where what stops the agent has stopped the program that does so. */
  async end(): Promise<void> {
    if (this.#isDry) return;
    for (let tries = 1; ; tries++) {
      try {
        await takeBackRoutes(this.#table);
        return;
      } catch (error) {
        if (!(error instanceof ProgramKilled) || tries === MAX_TRIES) throw error;
      }
    }
  }

  #parseMain(texts: RoutingTables['main']): MainTable {
    const joined = texts[4] + texts[6];
    if (this.#main?.texts !== joined) this.#main = { texts: joined, table: new MainTable(texts) };
    return this.#main.table;
  }
}
