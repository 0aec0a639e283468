/** Whether a browser would start this host. */
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import type { Browser } from './browsers.ts';
import { type ExtensionIds, parseManifest } from './manifest.ts';

/** The manifest that a browser reads: the user's, or else the one for all users; '' for none. */
export function registeredManifest({ manifestFile, systemManifestFile }: Browser): string {
  return [manifestFile, systemManifestFile].find((file) => file !== '' && existsSync(file)) ?? '';
}

/** Why a browser would not start the host; '' when it would. */
export function registrationProblem(browser: Browser, ids: ExtensionIds): string {
  const manifestFile = registeredManifest(browser);
  if (manifestFile === '') return 'not registered';
  let text: string;
  try {
    text = readFileSync(manifestFile, 'utf8');
  } catch (fault) {
    return `${manifestFile} cannot be read (${(fault as NodeJS.ErrnoException).code})`;
  }
  const manifest = parseManifest(text);
  if (typeof manifest === 'string') return `${manifestFile}: ${manifest}`;
  if (!isAbsolute(manifest.path)) return `${manifestFile}: its path is not absolute`;
  try {
    accessSync(manifest.path, constants.X_OK);
  } catch {
    return `its launcher ${manifest.path} is missing or not executable`;
  }
  const target = launchedFiles(readFileSync(manifest.path, 'utf8')).find((path) => !existsSync(path));
  if (target) return `its launcher ${manifest.path} starts ${target}, which is gone`;
  const allowed = 'allowed_extensions' in manifest ? manifest.allowed_extensions : manifest.allowed_origins;
  const wanted = browser.id === 'firefox' ? ids.firefox : `chrome-extension://${ids.chromium}/`;
  if (!allowed.includes(wanted)) return `it allows ${allowed.join(', ') || 'no extension'}, not ${wanted}`;
  return '';
}

/** Absolute paths in a launcher's last line. */
function launchedFiles(text: string): string[] {
  const line = text.trimEnd().split('\n').at(-1) ?? '';
  const words = [...line.matchAll(/'((?:[^']|'\\'')*)'|"([^"]*)"/g)];
  return words
    .map(([, single, double]) => single?.replaceAll("'\\''", "'") ?? double ?? '')
    .filter((word) => isAbsolute(word));
}
