/** The commands of `hopwise-host`. */
import { statSync } from 'node:fs';
import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  BYTES,
  EVERY_ORIGIN,
  EXTENSION_ID,
  expectedQuantity,
  FIREFOX_EXTENSION_ID,
  firstLine,
  installationLines,
  MAX_PIN_MINUTES,
  PIN_KINDS,
  readQuantity,
} from '@hopwise/contract';
import { readingProblem, refuseUnknownTopic, unifyErrors } from '@hopwise/contract/command-line';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { UsageError } from '../src/base/errors.ts';
import { launcherCommand } from '../src/base/launcher.ts';
import { logFile } from '../src/base/log.ts';
import { hostVersion } from '../src/base/version.ts';
import { authorityLine, authorityStatus } from '../src/ca/authority-status.ts';
import { Engine, engineLine, engineProblem } from '../src/engine/engine.ts';
import { browsers } from '../src/install/browsers.ts';
import { doctor } from '../src/install/doctor.ts';
import { chosenBrowsers, install, launcherFile, uninstall } from '../src/install/install.ts';
import { checkIds, type ExtensionIds } from '../src/install/manifest.ts';
import { registrationProblem } from '../src/install/registration.ts';
import { pinLine, pinsLine, pinsStatus, storedOnly } from '../src/pins/pin-status.ts';
import { packageLine } from '../src/setup/libcurl-package.ts';
import { updateFix, updateLine } from '../src/setup/libcurl-update.ts';
import { type SetupResult, setupLibcurl } from '../src/setup/setup-libcurl.ts';
import { addCaCommands } from './ca-command.ts';
import { networkCommand } from './network-command.ts';
import { EXIT_FAILURE, EXIT_USAGE, note, print, printJson } from './output.ts';
import { pinCommand, unpinCommand } from './pin-command.ts';
import { probeCommand } from './probe-command.ts';
import { resolverCommand } from './resolver-command.ts';

const script = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? './hopwise-host.ts' : './hopwise-host.js', import.meta.url),
);
const nodeArguments = script.endsWith('.ts') ? ['--conditions=source'] : [];

const MAX_BUDGET_BYTES = 1e12;

interface RegistrationOptions {
  userDataDir?: string;
  browser?: ReturnType<typeof browsers>[number]['id'][];
  extensionId: string;
  firefoxExtensionId: string;
  json?: boolean;
  libcurl?: string;
}

function registration(command: Command): Command {
  const names = browsers().map(({ id }) => id);
  return command
    .option('--user-data-dir <dir>', 'only this Chromium profile folder', folderName)
    .addOption(
      new Option('--browser <names...>', 'only these browsers; by default those that are found').choices(
        names,
      ),
    )
    .option('--extension-id <id>', 'id of the extension in Chromium', EXTENSION_ID)
    .option('--firefox-extension-id <id>', 'id of the extension in Firefox', FIREFOX_EXTENSION_ID);
}

/** @throws UsageError for ids of the wrong form */
function ids(options: RegistrationOptions): ExtensionIds {
  const given = { chromium: options.extensionId, firefox: options.firefoxExtensionId };
  checkIds(given);
  return given;
}

function where(
  options: RegistrationOptions,
): Pick<Parameters<typeof install>[0], 'userDataDirectory' | 'browsers'> {
  return { userDataDirectory: options.userDataDir, browsers: options.browser };
}

/** An empty name, as of an unset variable, must not apply a command to every browser. A folder that is missing is made. */
function folderName(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('expected the path of a folder');
  const problem = findProblem(text, 'folder');
  if (problem === '') return text;
  throw new UsageError(`--user-data-dir ${text}: expected the path of a folder, ${problem}`);
}

/** A name without a folder is looked for where the system keeps its libraries. */
function libraryFile(text: string): string {
  const problem = text.includes(sep) ? findProblem(text, 'file') : '';
  if (problem === '') return text;
  throw new UsageError(`--libcurl ${text}: expected a readable file, ${problem}`);
}

/** Why a path cannot be used as a file, or as a folder that may be missing; '' when it can. */
function findProblem(path: string, kind: 'file' | 'folder'): string {
  try {
    const isFolder = statSync(path).isDirectory();
    if (isFolder === (kind === 'folder')) return '';
    return isFolder ? 'but it is a folder' : 'but it is a file';
  } catch (fault) {
    const isMissing = (fault as NodeJS.ErrnoException).code === 'ENOENT';
    return kind === 'folder' && isMissing ? '' : readingProblem(fault);
  }
}

function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (Number.isInteger(number) && number >= min && number <= max) return number;
    throw new InvalidArgumentError(`expected a whole number from ${min} to ${max}`);
  };
}

const EXAMPLES = [
  ['doctor', 'what works, and how to mend the rest'],
  ['install', 'let the extension use this helper'],
  ['probe https://example.org/', 'one page under each HTTP version, timed'],
  ['pin https://example.org', 'keep a site off HTTP/3'],
  ['unpin --all', 'let all sites go their own way again'],
] as const;

/** Each example below what it is for: the launcher's path can be long. */
function examples(): string {
  const lines = EXAMPLES.map(([words, what]) => `  ${what}:\n    ${launcherCommand(words)}`);
  return ['', 'Examples:', ...lines].join('\n');
}

/** A probe's budget, as `5000000` or `5MB`. */
function bytes(text: string): number {
  const count = readQuantity(text, BYTES);
  if (Number.isInteger(count) && count >= 1 && count <= MAX_BUDGET_BYTES) return count;
  throw new InvalidArgumentError(`expected ${expectedQuantity(BYTES, [1, MAX_BUDGET_BYTES])}`);
}

const program = new Command('hopwise-host')
  .description(
    'Tries by real transfers which HTTP version loads a page fastest on this network, and steers browsers to it.',
  )
  .version(hostVersion(), '--version', 'print the version')
  .addHelpText('after', examples)
  .exitOverride();

registration(program.command('install'))
  .description('register the host with browsers')
  .option('--json', 'print JSON')
  .action(async (options: RegistrationOptions) => {
    const done = await install({ ids: ids(options), script, nodeArguments, ...where(options) });
    if (options.json) printJson({ launcher: launcherFile(options.userDataDir), registered: done });
    else {
      for (const { browser, manifestFile } of done) print(`${browser}: ${manifestFile}`);
      print(`command: ${launcherFile(options.userDataDir)}`);
    }
  });

registration(program.command('uninstall'))
  .description('undo the registration; the private libcurl and the local CA stay unless --all is given')
  .option('--all', 'also remove the local CA, the private libcurl and the log')
  .option('--json', 'print JSON')
  .action(async (options: RegistrationOptions & { all?: boolean }) => {
    const removed = await uninstall(where(options));
    if (options.all) {
      const { removeData } = await import('../src/install/remove-data.ts');
      const data = await removeData();
      removed.push(...data.removed);
      for (const line of data.left) note(line);
      if (data.left.length > 0) process.exitCode = EXIT_FAILURE;
    }
    if (options.json) printJson({ removed });
    else
      print(
        removed.length > 0 ? removed.map((file) => `removed ${file}`).join('\n') : 'nothing was registered',
      );
  });

registration(program.command('doctor'))
  .description('check everything and show a fix for what fails')
  .option('--libcurl <path>', 'check this libcurl', libraryFile)
  .option('--offline', 'do not ask Debian for a newer libcurl')
  .option('--json', 'print JSON')
  .action(async (options: RegistrationOptions & { offline?: boolean }) => {
    const { libcurl, offline } = options;
    const checks = await doctor({ ids: ids(options), libcurl, offline, ...where(options) });
    const ok = checks.every((check) => check.ok);
    if (options.json) printJson({ ok, checks }, 2);
    else print(checks.flatMap(installationLines).join('\n'));
    if (!ok) process.exitCode = EXIT_FAILURE;
  });

program
  .command('setup')
  .description('find a libcurl with HTTP/3; on Debian 12, make a private copy of one, without root')
  .addOption(
    new Option('--check', 'report what is there and whether it is up to date; change nothing').conflicts(
      'update',
    ),
  )
  .addOption(
    new Option('--update', "replace the private copy by a newer version from Debian's backports").conflicts(
      'offline',
    ),
  )
  .option('--offline', 'do not ask Debian for a newer version')
  .option('--json', 'print JSON')
  .action(async ({ json, ...options }: SetupCommandOptions) => {
    const result = await setupLibcurl({ ...options, log: note });
    if (json) printJson(result);
    else if (result.http3) print(setupLines(result).join('\n'));
    else print(`no libcurl with HTTP/3${result.engine ? `, only ${result.engine}` : ''}: ${result.fix}`);
    if (!result.http3) process.exitCode = EXIT_FAILURE;
  });

interface SetupCommandOptions {
  check?: boolean;
  update?: boolean;
  offline?: boolean;
  json?: boolean;
}

function setupLines({ engine, path, package: copy, update }: SetupResult): string[] {
  const lines = [`${engine} (${path})`];
  if (copy) lines.push(packageLine(copy));
  if (update) lines.push(`update: ${[updateLine(update), updateFix(update)].filter(Boolean).join('; ')}`);
  return lines;
}

registration(program.command('status'))
  .description('summarise what is installed and what works')
  .option('--libcurl <path>', 'use this libcurl', libraryFile)
  .option('--json', 'print JSON')
  .action(async (options: RegistrationOptions) => {
    const extension = ids(options);
    // The one that the helper uses: to look for it again takes a process for each place.
    const engine = new Engine({ libcurl: options.libcurl, remembersLibrary: true });
    let line = '';
    let problem: string;
    let path = '';
    try {
      const info = await engine.start();
      line = engineLine(info);
      path = info.path;
      problem = engineProblem(info);
    } catch (fault) {
      problem = (fault as Error).message;
    } finally {
      await engine.close();
    }
    const registered = chosenBrowsers(where(options)).map((browser) => ({
      browser: browser.name,
      problem: registrationProblem(browser, extension),
    }));
    const status = {
      version: hostVersion(),
      engine: line,
      libcurl: path,
      problem,
      registered,
      authority: authorityStatus(),
      pins: await pinsStatus(),
      log: logFile(),
    };
    if (options.json) printJson(status);
    else {
      print(`hopwise-host ${status.version}`);
      print(`engine: ${line ? `${line} (${path})` : 'none'}${problem ? `; ${problem}` : ''}`);
      for (const entry of registered) print(`${entry.browser}: ${entry.problem || 'registered'}`);
      print(`local CA: ${authorityLine(status.authority)}`);
      print(`pins: ${pinsLine(status.pins)}`);
      for (const { browser, pid, pins } of status.pins.sessions) {
        for (const pin of pins) print(`  ${browser} (process ${pid}): ${pinLine(pin)}`);
      }
      for (const pin of storedOnly(status.pins)) print(`  next session: ${pinLine(pin)}`);
      for (const { problem, fix } of status.pins.problems) print(`  ${problem}; ${fix}`);
      print(`log: ${status.log}`);
    }
  });

addCaCommands(
  program
    .command('ca')
    .description(
      'the local certificate authority that pins to a protocol need; only these commands create one',
    ),
);

const browserOption = (): Option =>
  new Option('--browser <name>', 'only this browser').choices(browsers().map(({ id }) => id));

program
  .command('pin')
  .description(
    'steer an origin to a protocol in the connected browsers, or else in the next one that connects',
  )
  .argument('<origin>', `such as https://example.org; ${EVERY_ORIGIN} for all that have no pin of their own`)
  .addOption(
    new Option('--as <kind>', 'avoid-h3 needs nothing more; a protocol needs the local CA')
      .choices(PIN_KINDS)
      .default('avoid-h3'),
  )
  .option('--minutes <n>', 'end the pin after so many minutes', wholeNumber(1, MAX_PIN_MINUTES))
  .option('--keep', 'keep the pin for later sessions; otherwise it ends with the browser')
  .option('--allow-local', 'also where the origin has no public address: every web page can then reach it')
  .addOption(browserOption())
  .option('--json', 'print JSON')
  .action(pinCommand);

program
  .command('unpin')
  .description('end the pin of an origin, now and for later sessions')
  .argument('[origin]', 'such as https://example.org')
  .option('--all', 'end all pins')
  .addOption(browserOption())
  .option('--json', 'print JSON')
  .action(unpinCommand);

program
  .command('resolver')
  .description('show or set where addresses of hosts are looked up')
  .argument('[url]', 'a resolver for DNS over HTTPS, or "off" for the system\'s')
  .action(resolverCommand);

program
  .command('probe')
  .description('transfer URLs, or the requests of a recorded page, under each protocol and compare the times')
  .argument('[urls...]', 'https URLs: the first is the page, the others start when it has been received')
  .option('--har <file>', 'take the requests, their order and delays from a HAR or a hopwise recording')
  .option('--protocols <list>', 'of h1,h2,h3', 'h1,h2,h3')
  .option('--rounds <n>', 'maximum rounds under each protocol, within the budget', wholeNumber(1, 20), 3)
  .option(
    '--budget <bytes>',
    "maximum response bytes in all, such as 5MB; by default the page's for each protocol and assignment, at least three times",
    bytes,
  )
  .option('--libcurl <path>', 'use this libcurl', libraryFile)
  .option('--resources', 'also print every resource, as transferred in the median round')
  .option('--json', 'print the verification as JSON')
  .action(probeCommand);

program
  .command('network')
  .description(
    'check what the network does to UDP, and its round trip, loss and rates, by at most 330 kB over HTTP/2 and over HTTP/3',
  )
  .argument(
    '[urls...]',
    'https URLs of files of one server that offers HTTP/3; small ones are transferred several times',
  )
  .option('--har <file>', 'take files of a HAR or a hopwise recording')
  .option('--every <minutes>', 'check again after so many minutes', wholeNumber(1, 1_440))
  .option('--for <minutes>', 'until so many minutes have passed', wholeNumber(1, 10_080))
  .option('--libcurl <path>', 'use this libcurl', libraryFile)
  .option('--json', 'print each check as a line of JSON')
  .action(networkCommand);

unifyErrors(program, {
  program: 'hopwise-host',
  help: (subcommands) => launcherCommand([...subcommands, '--help'].join(' ')),
});

/** Runs the command that the process's arguments name. */
export async function runCommand(): Promise<void> {
  try {
    refuseUnknownTopic(program, process.argv.slice(2));
    await program.parseAsync();
  } catch (fault) {
    if (fault instanceof CommanderError) {
      // Commander has printed the error; help and version end with 0.
      process.exitCode = fault.exitCode === 0 ? 0 : EXIT_USAGE;
      return;
    }
    note(firstLine(fault));
    process.exitCode = fault instanceof UsageError ? EXIT_USAGE : EXIT_FAILURE;
  }
}
