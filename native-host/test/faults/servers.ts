/** The origins of the fault tests, and what has reached them. */
import { type Server, ServerProgram } from '../support/server.ts';

export class Servers {
  /** Those that can be asked. */
  readonly all: readonly Server[];
  /** Speaks everything. */
  readonly whole: Server;
  /** Its certificate is unknown to engine and browser. */
  readonly stranger: Server;
  /** Its certificate has expired. */
  readonly expired: Server;
  readonly #program: ServerProgram;
  readonly #lacking: Record<string, Server>;
  readonly #arrivals = new Map<string, number>();

  private constructor(program: ServerProgram, all: Server[], expired: Server) {
    const [whole, stranger, h2, h3] = all as [Server, Server, Server, Server];
    this.#program = program;
    this.all = all;
    this.whole = whole;
    this.stranger = stranger;
    this.expired = expired;
    this.#lacking = { h2, h3 };
  }

  static async start(): Promise<Servers> {
    const program = new ServerProgram();
    const start = (...words: string[]): Promise<Server> => program.start('-alt-svc', '', ...words);
    const all = [
      await start(),
      await start(),
      await start('-protocols', 'h1'),
      await start('-protocols', 'h1,h2'),
    ];
    return new Servers(program, all, await start('-lifetime', '-1m'));
  }

  /** Those whose CA engine and browser trust. */
  get trusted(): readonly Server[] {
    return [...this.all.filter((server) => server !== this.stranger), this.expired];
  }

  /** One that speaks all but this protocol. */
  without(protocol: string): Server {
    return this.#lacking[protocol] ?? this.whole;
  }

  /** How often each request, by the value of `id` in its query, has arrived. Nothing more may be under way. */
  async arrivals(): Promise<ReadonlyMap<string, number>> {
    for (const server of this.all) {
      for (const { path } of await server.seen()) {
        const id = new URL(path, 'https://localhost').searchParams.get('id');
        if (id !== null) this.#arrivals.set(id, (this.#arrivals.get(id) ?? 0) + 1);
      }
    }
    return this.#arrivals;
  }

  /** Paths that were asked for under the expired certificate since the last call: there should be none. */
  async underExpired(): Promise<string[]> {
    return (await this.expired.seen()).map(({ path }) => path);
  }

  async stop(): Promise<void> {
    await Promise.all([...this.all, this.expired].map((server) => server.stop()));
    this.#program.remove();
  }
}
