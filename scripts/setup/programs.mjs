/** Programs that set-up runs, and where they are. Node's own modules only: it runs before any package is installed. */
import { spawn } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** A reason to stop that a person can act on; printed as one line. */
export class SetupError extends Error {}

/** PATH without this checkout's own node_modules: `npm ci` removes the Node that lives there. */
export function pathWithoutOwnNode() {
  return (process.env.PATH ?? '')
    .split(delimiter)
    .filter((dir) => !dir.includes(join('node_modules', '.bin')))
    .join(delimiter);
}

export function findOnPath(name) {
  for (const dir of pathWithoutOwnNode().split(delimiter)) {
    const file = join(dir, name);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // Not in this directory.
    }
  }
  return null;
}

/** Node 24, which package-lock.json pins for this platform. */
const OWN_NODE = join(ROOT, 'node_modules', '.bin', 'node');

/** Node 24 of the packages where they have one for this platform, else the Node that runs this. */
export function nodePath() {
  return existsSync(OWN_NODE) ? OWN_NODE : process.execPath;
}

/** @throws SetupError when neither the packages nor the machine has Node 24 */
export function requireNode24() {
  if (existsSync(OWN_NODE) || Number(process.versions.node.split('.')[0]) >= 24) return;
  throw new SetupError(
    `the packages have no Node for ${process.platform}-${process.arch}: install Node 24 or later`,
  );
}

/** Runs a program to its end; its output goes to `log`, the last lines into the error. */
export function runLogged(file, args, { log, cwd = ROOT, env = process.env }) {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const take = (chunk) => {
      output = (output + chunk).slice(-20_000);
      log(String(chunk));
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    child.on('error', (error) => reject(new SetupError(`${file}: ${error.message}`)));
    child.on('close', (code) => {
      if (code === 0) resolve();
      else {
        const lines = output.split('\n').filter((line) => line.trim() !== '');
        // npm says what went wrong first and how to call it last; compilers say it all as errors.
        const errors = lines.filter((line) => /error|fatal|cannot|no such/i.test(line)).slice(0, 8);
        const shown = (errors.length > 0 ? errors : lines.slice(-8)).map((line) => `\n  ${line}`).join('');
        reject(new SetupError(`\`${file} ${args.join(' ')}\` ended with code ${code}:${shown}`));
      }
    });
  });
}

export function lastLine(text) {
  return text.trim().split('\n').at(-1)?.trim() ?? '';
}
