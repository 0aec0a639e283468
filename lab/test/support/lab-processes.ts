/** Processes of a lab, for its tests. */
import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { expect } from 'vitest';

export async function parentOf(pid: number): Promise<number> {
  return Number(/^PPid:\s+(\d+)/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]);
}

export async function firstLine(program: ChildProcess): Promise<{ holderPid: number; caFile: string }> {
  let text = '';
  for await (const chunk of program.stdout!) {
    text += chunk;
    if (text.includes('\n')) break;
  }
  return JSON.parse(text);
}

export function descendants(pid: number): number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  );
  return children.flatMap((child) => [child, ...descendants(child)]);
}

/** Waits for the end of processes, which the kernel removes shortly after their parent. */
export async function allGone(pids: number[]): Promise<void> {
  await expect.poll(() => pids.filter((pid) => isAlive(pid)), { timeout: 60_000 }).toEqual([]);
}

/** Zombies count as ended, as they hold no resources. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

export function networkNamespace(pid: number | string): string {
  return readlinkSync(`/proc/${pid}/ns/net`);
}

export function processesIn(namespaces: Set<string>): string[] {
  return readdirSync('/proc').filter((entry) => {
    try {
      return /^\d+$/.test(entry) && namespaces.has(networkNamespace(entry));
    } catch {
      // The process has ended meanwhile.
      return false;
    }
  });
}
