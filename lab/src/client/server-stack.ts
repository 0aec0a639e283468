/** The servers that the lab may run, and their programs. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { QUICHE_BINARY, quicheProgram } from './build-quiche.ts';
import { nginxProgram } from './nginx.ts';

/** `go`: net/http and quic-go; `nginx-quiche`: nginx for HTTP/1.1 and HTTP/2, quiche for HTTP/3. */
export type ServerStack = 'go' | 'nginx-quiche';

/** Stacks by their names on command lines. */
export const STACKS = { go: 'go', nginx: 'nginx-quiche' } as const satisfies Record<string, ServerStack>;

/** Absolute paths. */
interface FrontPrograms {
  nginx: string;
  nginxLibraries?: string;
  quiche?: string;
}

/**
 * The programs of `nginx-quiche`, made where they are missing; quiche, which takes minutes to compile, only where the site offers
 * HTTP/3.
 *
 * @param site folder with `site.json`
 * @throws Error in one line that says what is missing
 */
export async function frontPrograms(
  site: string,
  { log, signal }: { log?: (line: string) => void; signal?: AbortSignal } = {},
): Promise<FrontPrograms> {
  const { program, libraries } = await nginxProgram(log);
  const fronts = { nginx: program, ...(libraries !== undefined && { nginxLibraries: libraries }) };
  if (!(await offersH3(site))) return fronts;
  if (!existsSync(QUICHE_BINARY)) log?.("compiling the lab's HTTP/3 server on quiche, which takes minutes");
  return { ...fronts, quiche: await quicheProgram(signal) };
}

/** False for an unreadable site, which the lab refuses with a reason. */
async function offersH3(site: string): Promise<boolean> {
  try {
    const { origins } = JSON.parse(await readFile(join(site, 'site.json'), 'utf8'));
    return origins.some(({ protocols }: { protocols: string[] }) => protocols.includes('h3'));
  } catch {
    return false;
  }
}
