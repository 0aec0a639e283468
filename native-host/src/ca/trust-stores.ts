/** The certificate stores of this user's browsers: NSS databases, all of them within the home folder. */
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { UsageError } from '../base/errors.ts';
import { configDirectory, dataDirectory } from '../base/paths.ts';

export interface TrustStore {
  /** The folder of the database. */
  folder: string;
  /** The browser's name, for the user. */
  browser: string;
}

export interface NamedStores {
  nssDb?: string[];
  firefoxProfile?: string[];
}

const CHROMIUM = 'Chromium, Chrome, Edge and Brave';
const DATABASE = 'cert9.db';

/**
 * The stores for a command to change: the named ones, else all that are found.
 *
 * @throws UsageError for a folder that holds no store.
 */
export function chosenStores(named: NamedStores): TrustStore[] {
  const stores = [
    ...(named.nssDb ?? []).map((folder) => namedStore('--nss-db', folder, `NSS database`)),
    ...(named.firefoxProfile ?? []).map((folder) =>
      namedStore('--firefox-profile', folder, 'Firefox profile'),
    ),
  ];
  return stores.length > 0 ? stores : foundStores();
}

/** The stores of browsers that this user has started at least once. */
export function foundStores(): TrustStore[] {
  if (process.platform !== 'linux') return [];
  return [...chromiumStore(), ...firefoxProfiles()].filter(({ folder }) =>
    existsSync(join(folder, DATABASE)),
  );
}

/**
 * Chromium 156 looks for `~/.pki/nssdb` first and creates the other one when there is neither; older versions
 * know the first only.
 */
function chromiumStore(): TrustStore[] {
  const folders = [join(homedir(), '.pki', 'nssdb'), join(dataDirectory(), '..', 'pki', 'nssdb')];
  const folder = folders.find((path) => existsSync(join(path, DATABASE)));
  return folder ? [{ folder, browser: CHROMIUM }] : [];
}

/** Firefox 153 uses the second folder when the first does not exist; snap and Flatpak have their own. */
function firefoxProfiles(): TrustStore[] {
  const folders = [
    join(homedir(), '.mozilla', 'firefox'),
    join(configDirectory(), 'mozilla', 'firefox'),
    join(homedir(), 'snap', 'firefox', 'common', '.mozilla', 'firefox'),
    join(homedir(), '.var', 'app', 'org.mozilla.firefox', '.mozilla', 'firefox'),
  ];
  return folders.flatMap((folder) =>
    profilesIn(folder).map(({ name, path }) => ({ folder: path, browser: `Firefox profile ${name}` })),
  );
}

/** The profiles in Firefox's `profiles.ini` in `folder`; none without the file. */
function profilesIn(folder: string): { name: string; path: string }[] {
  let text: string;
  try {
    text = readFileSync(join(folder, 'profiles.ini'), 'utf8');
  } catch {
    return [];
  }
  return text.split(/^(?=\[)/m).flatMap((section) => {
    const value = (key: string): string => new RegExp(`^${key}=(.*)$`, 'm').exec(section)?.[1]?.trim() ?? '';
    const path = value('Path');
    if (!/^\[Profile\d+\]/.test(section) || path === '') return [];
    return [{ name: value('Name'), path: value('IsRelative') === '0' ? path : join(folder, path) }];
  });
}

function namedStore(option: string, folder: string, browser: string): TrustStore {
  const path = resolve(folder.replace(/^sql:/, ''));
  if (!existsSync(join(path, DATABASE)))
    throw new UsageError(`${option} ${folder}: expected a folder with ${DATABASE}`);
  return { folder: path, browser };
}
