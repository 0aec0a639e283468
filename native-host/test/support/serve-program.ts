import { afterAll, beforeAll } from 'vitest';
import { type Server, ServerProgram } from './server.ts';

interface ServedProgram {
  program: ServerProgram;
  server: Server;
}

/** A server for all tests of a file, from its hooks on. */
export function serveProgram(): ServedProgram {
  const served = {} as ServedProgram;

  beforeAll(async () => {
    served.program = new ServerProgram();
    served.server = await served.program.start();
  });

  afterAll(async () => {
    await served.server.stop();
    served.program.remove();
  });

  return served;
}
