import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import type { Engine } from '../../src/engine/engine.ts';
import { LocalEngine } from './local-engine.ts';
import { type Server, ServerProgram } from './server.ts';

/** A server, and an engine that trusts it. */
export interface Served {
  program: ServerProgram;
  server: Server;
  engine: Engine;
}

/** For all tests of a file, from its hooks on; each begins with nothing seen. */
export function serveEngine(): Served {
  const served = {} as Served;

  beforeAll(async () => {
    served.program = new ServerProgram();
    served.server = await served.program.start();
    process.env.HOPWISE_CA_FILE = served.server.caFile;
    served.engine = new LocalEngine();
    const info = await served.engine.start();
    expect(info.http3, 'these tests need a libcurl with HTTP/3: hopwise-host setup').toBe(true);
  });

  afterAll(async () => {
    await served.engine.close();
    await served.server.stop();
    served.program.remove();
    delete process.env.HOPWISE_CA_FILE;
  });

  beforeEach(async () => {
    await served.server.seen();
  });

  return served;
}

/** An engine of its own for a server of its own, or for what a file of CA certificates has. */
export async function engineTrusting({ caFile }: Pick<Server, 'caFile'>): Promise<Engine> {
  const former = process.env.HOPWISE_CA_FILE;
  process.env.HOPWISE_CA_FILE = caFile;
  const own = new LocalEngine();
  await own.start();
  process.env.HOPWISE_CA_FILE = former;
  return own;
}
