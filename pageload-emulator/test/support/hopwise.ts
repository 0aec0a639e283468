/** The `hopwise` command, for its tests. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, vi } from 'vitest';
import { runHopwise } from '../../bin/run-hopwise.ts';

export interface Ended {
  status: number;
  stdout: string;
  stderr: string;
}

const atRoot = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

/** Builds the command, which takes no time when it is up to date. */
export function buildHopwise(): void {
  const words = [atRoot('node_modules/.bin/tsc'), '-b', atRoot('pageload-emulator/bin')];
  const built = spawnSync(process.execPath, words, { encoding: 'utf8' });
  expect(built.stdout + built.stderr).toBe('');
}

/**
 * Runs the built command.
 *
 * @param output a descriptor that takes the standard output, which the result then does not have
 */
export function spawnHopwise(args: readonly string[], input = '', output: 'pipe' | number = 'pipe'): Ended {
  const command = atRoot('pageload-emulator/bin/dist/hopwise.js');
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, ...args], {
    encoding: 'utf8',
    input,
    stdio: ['pipe', output, 'pipe'],
  });
  return { status: status ?? -1, stdout: stdout ?? '', stderr };
}

/** Runs the command in this process: to start another one takes longer than most commands. One at a time. */
export async function hopwise(args: readonly string[]): Promise<Ended> {
  const capture = (stream: NodeJS.WriteStream) => vi.spyOn(stream, 'write').mockReturnValue(true);
  const streams = [capture(process.stdout), capture(process.stderr)];
  const codeBefore = process.exitCode;
  process.exitCode = undefined;
  try {
    await runHopwise(args);
    const [stdout, stderr] = streams.map(({ mock }) => mock.calls.map(([text]) => text).join(''));
    return { status: Number(process.exitCode ?? 0), stdout: stdout!, stderr: stderr! };
  } finally {
    process.exitCode = codeBefore;
    for (const stream of streams) stream.mockRestore();
  }
}
