import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

/**
 * Runs a program to its end, in a process group of its own, so that a terminal's Ctrl-C ends the agent alone, which waits for it.
 *
 * @returns what it printed
 * @throws Error with the first line of its errors
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
  throw new Error(`${words.join(' ')}: ${errors.trim().split('\n')[0] || `ended by ${signal ?? code}`}`);
}
