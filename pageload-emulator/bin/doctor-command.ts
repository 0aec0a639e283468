/** `hopwise doctor`: whether both sides work, this command and the helper `hopwise-host`. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type InstallationCheck as Check, installationLines, MIN_NODE } from '@hopwise/contract';
import { parseRecording, predict } from '@hopwise/pageload-emulator';
import type { Command } from 'commander';
import { print, printJson } from './output.ts';
import { packageVersion } from './version.ts';

/** Exit code where something does not work. */
const NOT_IN_ORDER = 1;

/** Adds the command that checks the installation. */
export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description('check this command and the helper, and show a fix for what fails')
    .option('--offline', 'does not ask for newer versions')
    .option('--json', 'as JSON')
    .addHelpText('after', '\nExit code: 0 all works, 1 something does not.\n\nExamples:\n  hopwise doctor')
    .action(({ offline = false, json = false }: { offline?: boolean; json?: boolean }) => {
      const own = [checkNode(), checkPrediction()];
      const helper = askHelper(offline);
      const checks = [...own, ...helper];
      const ok = checks.every((check) => check.ok);
      if (json) printJson({ ok, checks });
      else
        print(
          [`hopwise ${packageVersion()}`, ...own.flatMap(linesOf), 'helper', ...helper.flatMap(linesOf)].join(
            '\n',
          ),
        );
      if (!ok) process.exitCode = NOT_IN_ORDER;
    });
}

const linesOf = (check: Check): string[] => installationLines(check).map((line) => `  ${line}`);

function checkNode(): Check {
  const { node } = process.versions;
  const ok = Number(node.split('.')[0]) >= MIN_NODE;
  return { name: 'Node', ok, detail: node, fix: ok ? '' : `install Node ${MIN_NODE} or later` };
}

/** One request over HTTP/2 that took 100 ms. */
const PAGE = JSON.stringify({
  log: {
    version: '1.2',
    creator: { name: 'hopwise doctor', version: '1' },
    entries: [
      {
        startedDateTime: '2026-01-01T00:00:00.000Z',
        time: 100,
        request: { method: 'GET', url: 'https://page.test/', httpVersion: 'h2', headers: [] },
        response: {
          status: 200,
          httpVersion: 'h2',
          headers: [],
          content: { size: 5000, mimeType: 'text/html' },
          bodySize: 5000,
        },
        timings: { blocked: 0, dns: 0, connect: 40, ssl: 20, send: 0, wait: 40, receive: 20 },
      },
    ],
  },
});

function checkPrediction(): Check {
  try {
    const { elapsedMs } = predict(parseRecording(PAGE));
    return { name: 'prediction', ok: true, detail: `a page of one request in ${elapsedMs} ms`, fix: '' };
  } catch (error) {
    return { name: 'prediction', ok: false, detail: (error as Error).message, fix: 'install hopwise again' };
  }
}

/** What the helper says of itself. */
function askHelper(offline: boolean): Check[] {
  const launcher = findHelper();
  if (launcher === null) {
    const fix = 'install the helper if you want to verify and pin; predictions need none';
    return [{ name: 'installation', ok: true, detail: 'not installed', fix }];
  }
  const [file = '', ...words] = launcher;
  const answer = spawnSync(file, [...words, 'doctor', '--json', ...(offline ? ['--offline'] : [])], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    // That is how this program is called, not the helper.
    env: { ...process.env, HOPWISE_CALLED_AS: '' },
  });
  try {
    return (JSON.parse(answer.stdout) as { checks: Check[] }).checks;
  } catch {
    const reason = answer.error?.message ?? (answer.stderr.trim().split('\n')[0] || 'no answer');
    return [{ name: launcher.join(' '), ok: false, detail: reason, fix: 'install the helper again' }];
  }
}

/** The command line of the helper: that on the PATH, the one registered with browsers, or that of this checkout; null for none. */
function findHelper(): string[] | null {
  const isWindows = process.platform === 'win32';
  const data = process.env.XDG_DATA_HOME || join(homedir(), '.local/share');
  const files = [
    ...(process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'hopwise-host')),
    join(data, 'hopwise/hopwise-host.sh'),
  ];
  const found = isWindows ? undefined : files.find((file) => existsSync(file));
  if (found !== undefined) return [found];
  const script = fileURLToPath(new URL('../../native-host/bin/hopwise-host.mjs', import.meta.url));
  const built = fileURLToPath(new URL('../../../native-host/bin/hopwise-host.mjs', import.meta.url));
  const checkout = [script, built].find((file) => existsSync(file));
  return checkout === undefined ? null : [process.execPath, checkout];
}
