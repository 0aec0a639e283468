/** Bulk transfers in the lab, for its tests. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { LAB_BINARY } from '../../src/client/build.ts';
import type { Lab } from '../../src/client/lab.ts';
import type { LabNetwork } from '../../src/client/networks.ts';

const run = promisify(execFile);

export const LINK: LabNetwork = {
  rttMs: 30,
  downMbps: 50,
  upMbps: 20,
  loss: 0,
  lossBurst: 1,
  queue: { ms: 200 },
  udp: 'open',
};

export interface Transfer {
  protocol: string;
  status?: number;
  bytes: number;
  rttMs?: number;
  ttfbMs: number;
  totalMs: number;
  bitsPerSecond: number;
  linkBitsPerSecond: number;
  error?: string;
}

export async function check(lab: Lab, ...args: string[]): Promise<Transfer[]> {
  const [command, ...rest] = lab.enterCommand([LAB_BINARY, 'check', '--ca', lab.caFile, ...args]);
  const { stdout } = await run(command as string, rest);
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Transfer);
}
