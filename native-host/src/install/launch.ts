import { readFileSync } from 'node:fs';
import { HOST_NAME } from '@hopwise/contract/ids';

/**
 * Whether a browser passed these arguments: Chromium passes the extension's origin first,
 * Firefox the manifest's path and the extension's id.
 */
export function launchedByBrowser([first = '', second = '']: readonly string[]): boolean {
  if (first.startsWith('chrome-extension://')) return true;
  return first.endsWith(`${HOST_NAME}.json`) && second !== '';
}

/** Prefixes of browsers' process names on Linux, with their ids. */
const PROCESS_NAMES: readonly (readonly [string, string])[] = [
  ['brave', 'brave'],
  ['msedge', 'edge'],
  ['chromium', 'chromium'],
  ['chrome', 'chrome'],
];

/**
 * The browser that started this process with these arguments, as `--browser` names it; `chromium` for unknown browsers of its
 * family.
 */
export function launchingBrowser([first = '']: readonly string[], processName = parentName()): string {
  if (!first.startsWith('chrome-extension://')) return 'firefox';
  return PROCESS_NAMES.find(([name]) => processName.startsWith(name))?.[1] ?? 'chromium';
}

/** '' where there is no procfs. */
function parentName(): string {
  try {
    return readFileSync(`/proc/${process.ppid}/comm`, 'utf8');
  } catch {
    return '';
  }
}
