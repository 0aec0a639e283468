import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Server, ServerProgram } from '../../../support/server.ts';
import { Pinned } from './pinned.ts';

/** Servers, and a proxy that terminates pins to them, for the tests of one file. */
export interface ServedPins {
  folder: string;
  program: ServerProgram;
  server: Server;
  /** One for each further list of arguments. */
  others: Server[];
  pinned: Pinned;
  stop(): Promise<void>;
}

/** @param others the arguments of further servers. */
export async function servePins(...others: string[][]): Promise<ServedPins> {
  const folder = mkdtempSync(join(tmpdir(), 'hopwise-terminating-'));
  const program = new ServerProgram();
  const servers = await Promise.all([[], ...others].map((words) => program.start(...words)));
  const pinned = await Pinned.start(
    folder,
    servers.map(({ caFile }) => caFile),
  );
  const stop = async (): Promise<void> => {
    await pinned.stop(folder);
    await Promise.all(servers.map((server) => server.stop()));
    program.remove();
  };
  return { folder, program, server: servers[0]!, others: servers.slice(1), pinned, stop };
}
