/** `hopwise-host ca`: the local certificate authority of pins to a protocol, created and trusted by these commands only. */

import type { Command } from 'commander';
import { launcherCommand } from '../src/base/launcher.ts';
import {
  type AuthorityStatus,
  authorityLine,
  authorityStatus,
  explainMissing,
} from '../src/ca/authority-status.ts';
import { authorityFolder, tryAuthority, writeAuthority } from '../src/ca/authority-store.ts';
import { certutilInstallHint, findCertutil } from '../src/ca/certutil.ts';
import { hostsOf } from '../src/ca/hosts.ts';
import { type Removal, removeAuthority } from '../src/ca/remove-authority.ts';
import { type TrustOutcome, trust, trustNow, untrust } from '../src/ca/trust.ts';
import { chosenStores, type NamedStores } from '../src/ca/trust-stores.ts';
import { EXIT_FAILURE, print, printJson } from './output.ts';

interface JsonOption {
  json?: boolean;
}

/** Adds the subcommands to `ca`. */
export function addCaCommands(ca: Command): void {
  const sub = (name: string, description: string): Command =>
    ca.command(name).description(description).option('--json', 'print JSON');
  const withStores = (command: Command): Command =>
    command
      .option('--nss-db <dir...>', 'only this NSS database (a folder with cert9.db)')
      .option('--firefox-profile <dir...>', 'only this Firefox profile');

  sub(
    'create',
    'create a CA for exactly these hosts; a former one is removed first. No browser trusts it yet',
  )
    .argument('<origins...>', 'such as https://example.org')
    .action(create);
  sub('status', 'show the hosts of the CA, its expiry and which browsers trust it').action(status);
  withStores(
    sub(
      'trust',
      "add the CA's root certificate to the certificate stores of this user's browsers, never to the system's; ca untrust undoes it",
    ),
  ).action(trustCommand);
  withStores(sub('untrust', "remove the CA's root certificate from browsers' stores")).action(untrustCommand);
  sub('remove', 'undo everything: untrust the CA and delete it').action(remove);
}

async function create(origins: string[], { json }: JsonOption): Promise<void> {
  const hosts = hostsOf(origins);
  const { createAuthority } = await import('../src/ca/authority.ts');
  const authority = createAuthority(hosts);
  await tryAuthority(authority);
  const former = await removeAuthority();
  const left = problems(former.stores);
  if (left.length > 0)
    throw new Error(`the former CA is deleted but still trusted, so no new one was created: ${left[0]}`);
  await writeAuthority(authority);
  const made = authorityStatus();
  if (json) {
    printJson({ ...made, replaced: former.existed });
    return;
  }
  if (former.existed) print(removalLine(former));
  print(`created "${made.name}", a local CA ${authorityLine(made)}, in ${authorityFolder()}`);
  print(`No browser trusts it yet: ${launcherCommand('ca trust')}`);
  print(`For other hosts later: ${launcherCommand('ca create')} with all of them, then trust it again.`);
}

async function status({ json }: JsonOption): Promise<void> {
  const found = authorityStatus();
  const stores = found.problem ? [] : await trustNow();
  if (json) {
    printJson({ ...found, stores: stores.map(storeOf) });
  } else {
    print(`local CA: ${authorityLine(found)}${found.fix ? `; ${found.fix}` : ''}`);
    if (found.root) {
      print(`root: ${found.root} (SHA-256 ${found.fingerprint})`);
      if (!findCertutil())
        print(`which browsers trust it is not known: certutil is missing (${certutilInstallHint()})`);
    }
    for (const store of stores) print(storeLine(store));
    if (found.root && stores.length > 0 && !stores.some(({ trusted }) => trusted))
      print(`No browser trusts it yet: ${launcherCommand('ca trust')}`);
  }
  if (found.problem) process.exitCode = EXIT_FAILURE;
}

async function trustCommand(options: NamedStores & JsonOption): Promise<void> {
  const stores = chosenStores(options);
  const authority = usable();
  // The user has to do it in the browser: nothing is changed here.
  const missing = findCertutil() === null ? `certutil is missing (${certutilInstallHint()})` : '';
  if (missing || stores.length === 0) {
    const problem = missing || 'no certificate store of a browser was found: start the browser once';
    const steps = trustSteps(authority.root);
    if (options.json) printJson({ name: authority.name, stores: [], problem, steps });
    else print([`Nothing was changed: ${problem}. Or add it by hand:`, ...steps].join('\n'));
    process.exitCode = EXIT_FAILURE;
    return;
  }
  const outcomes = await trust(stores);
  if (options.json) printJson({ name: authority.name, stores: outcomes.map(storeOf) });
  else {
    print(`"${authority.name}" (SHA-256 ${authority.fingerprint})`);
    print(
      `can issue certificates that these browsers accept for ${authority.hosts.join(', ')} and no other host:`,
    );
    for (const outcome of outcomes) print(storeLine(outcome));
    print(`Restart the browser. To undo it: ${launcherCommand('ca untrust')}`);
  }
  if (problems(outcomes).length > 0) process.exitCode = EXIT_FAILURE;
}

async function untrustCommand(options: NamedStores & JsonOption): Promise<void> {
  const named = options.nssDb !== undefined || options.firefoxProfile !== undefined;
  const outcomes = await untrust(named ? chosenStores(options) : undefined);
  if (options.json) printJson({ stores: outcomes.map(storeOf) });
  else {
    for (const outcome of outcomes) print(storeLine(outcome));
    if (outcomes.length === 0) print('no certificate store that the helper knows trusts the local CA');
    else print('Restart the browser.');
  }
  if (problems(outcomes).length > 0) process.exitCode = EXIT_FAILURE;
}

async function remove({ json }: JsonOption): Promise<void> {
  const removal = await removeAuthority();
  const { name, existed, stores, problem } = removal;
  if (json) printJson({ existed, name, stores: stores.map(storeOf), problem });
  else print(removalLine(removal));
  if (problem || problems(stores).length > 0) process.exitCode = EXIT_FAILURE;
}

/** @throws Error in one line when there is no CA to trust. */
function usable(): AuthorityStatus {
  const found = authorityStatus();
  if (found.problem) throw new Error(`${found.problem}: ${found.fix}`);
  if (!found.root) throw new Error(explainMissing());
  return found;
}

/** What was removed, and what the user has left to do. */
function removalLine({ name, existed, stores, problem }: Removal): string {
  if (!existed) return 'there was no local CA';
  const called = name || 'hopwise local CA';
  const lines = stores.map(storeLine);
  if (problems(stores).length > 0) {
    return [
      ...lines,
      `the keys of "${called}" are deleted; fix the stores, then: ${launcherCommand('ca remove')}`,
    ].join('\n');
  }
  lines.push(`removed "${called}" and its keys`);
  if (problem) lines.push(`which browsers trusted it is unknown: ${problem}`);
  if (stores.length === 0) lines.push('If you added it to a browser by hand:', ...untrustSteps(called));
  return lines.join('\n');
}

function problems(stores: readonly TrustOutcome[]): string[] {
  return stores.flatMap(({ folder, problem }) => (problem ? [`${folder}: ${problem}`] : []));
}

function storeOf({ folder, browser, trusted, changed, problem }: TrustOutcome): object {
  return { folder, browser, trusted, changed, problem };
}

function storeLine({ folder, browser, trusted, changed, problem }: TrustOutcome): string {
  const before = trusted ? 'trusted' : 'not trusted';
  const now = trusted ? 'now trusted' : 'no longer trusted';
  return `${browser} (${folder}): ${problem || (changed ? now : before)}`;
}

/** Steps in the browser to add the root by hand. @param file path of the root */
function trustSteps(file: string): string[] {
  return [
    `Chromium, Chrome, Edge, Brave: open chrome://certificate-manager, Local certificates, Installed by you, Trusted Certificates: Import, and choose ${file}`,
    `Firefox: Settings, Privacy & Security, View Certificates, Authorities: Import, choose ${file} and tick "Trust this CA to identify websites"`,
  ];
}

/** Steps in the browser to remove the root by hand. @param name the root's name in the browser's list */
function untrustSteps(name: string): string[] {
  return [
    `Chromium, Chrome, Edge, Brave: open chrome://certificate-manager, Local certificates, Installed by you, and delete "${name}"`,
    `Firefox: Settings, Privacy & Security, View Certificates, Authorities, and delete "${name}"`,
  ];
}
