/** Permission to use root. */
import { spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import { findOnPath, SetupError } from './programs.mjs';

/** The answer; empty for Ctrl-C and Ctrl-D. */
function question(text, streams) {
  return new Promise((resolve) => {
    const ask = createInterface(streams);
    ask.on('SIGINT', () => ask.close());
    ask.on('close', () => resolve(''));
    ask.question(text, (answer) => {
      resolve(answer);
      ask.close();
    });
  });
}

/** Asks the user for permission to use root; returns the words to put before a command. */
export async function rootPrefix(why, { yes, input = process.stdin, output = process.stderr }) {
  const isRoot = process.getuid?.() === 0;
  const sudo = findOnPath('sudo');
  if (!isRoot && !sudo)
    throw new SetupError(`root is needed to ${why}, and there is no sudo: do it as root, then start again`);
  if (input.isTTY && !yes) {
    const answer = await question(
      `hopwise would like to ${why}${isRoot ? '' : ' with sudo'}. Go ahead? [y/N] `,
      {
        input,
        output,
      },
    );
    if (!/^y(es)?$/i.test(answer.trim())) throw new SetupError(`not done: ${why}`);
  }
  if (isRoot) return [];
  if (!input.isTTY) return [sudo, '-n'];
  // sudo asks for the password now, while nothing else is printed.
  if (spawnSync(sudo, ['-v'], { stdio: 'inherit' }).status !== 0)
    throw new SetupError(`sudo refused, and root is needed to ${why}: do it as root, then start again`);
  return [sudo];
}
