import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

/** A program was ended by a signal, as one that stops the agent reaches its programs too. */
export class ProgramKilled extends Error {
  override readonly name = 'ProgramKilled';
}

/**
 * Runs a program to its end, in a process group of its own, so that a terminal's Ctrl-C ends the agent alone, which waits for it. Before the
 * program has its group, and where a service manager stops everything at once, the signal reaches it nevertheless.
 *
 * @returns what it printed
 * @throws ProgramKilled; Error with the first line of its errors
 */
export async function runProgram(words: readonly string[], input = ''): Promise<string> {
  const [program, ...args] = words;
  const child = spawn(program!, args, { detached: true, stdio: 'pipe' });
  // A program that fails may not read all of it.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const [printed, errors, [code, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  if (code === 0) return printed;
  if (signal !== null) throw new ProgramKilled(`${words.join(' ')}: ended by ${signal}`);
  throw new Error(`${words.join(' ')}: ${errors.trim().split('\n')[0] || `ended by ${code}`}`);
}
