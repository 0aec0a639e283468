import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, expect } from 'vitest';
import { Pinned } from '../../pins/terminating/support/pinned.ts';
import { growth } from '../../support/memory.ts';
import { type Server, ServerProgram } from '../../support/server.ts';
import { MIB } from './cases.ts';

/** Requests of others during a flood. */
export const OTHERS = 50;

/** Some times what such answers take; what they would unpack to is many times as much. */
const GROWTH_BYTES = 64 * MIB;

/** A server, and a proxy whose engine trusts it. */
export interface Served {
  folder: string;
  program: ServerProgram;
  server: Server;
  /** Further servers, in the order that they were asked for. */
  others: Server[];
  pinned: Pinned;
}

/**
 * For all tests of a file, from its hooks on.
 *
 * @param others the arguments of each further server.
 */
export function servePinned(...others: string[][]): Served {
  const served = {} as Served;

  beforeAll(async () => {
    served.folder = mkdtempSync(join(tmpdir(), 'hopwise-conformance-'));
    served.program = new ServerProgram();
    served.server = await served.program.start();
    served.others = await Promise.all(others.map((args) => served.program.start(...args)));
    const caFiles = [served.server, ...served.others].map(({ caFile }) => caFile);
    served.pinned = await Pinned.start(served.folder, caFiles);
  });

  afterAll(async () => {
    await served.pinned.stop(served.folder);
    await Promise.all([served.server, ...served.others].map((server) => server.stop()));
    served.program.remove();
  });

  return served;
}

/** Responses of other origins, one after the other. */
export async function othersGoOn({ pinned, server }: Served, times = 1): Promise<void> {
  for (let done = 0; done < times; done += 1) {
    const url = server.url('/bytes/1000');
    const { body } = pinned.engine.exchange({ protocol: 'h2', method: 'GET', url, headers: [], body: null });
    expect(await buffer(body)).toHaveLength(1000);
  }
}

/** Neither the engine nor this process, which is the proxy, takes much more memory. */
export async function holdMemory({ pinned }: Served, run: () => Promise<void>): Promise<void> {
  const grown = await growth([[(await pinned.engine.pid())!], [process.pid]], run);
  for (const bytes of grown) expect(bytes).toBeLessThan(GROWTH_BYTES);
}
