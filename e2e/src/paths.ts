import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** This file is `e2e/src/paths.ts` under vitest and `e2e/dist/src/paths.js` once built. */
function findRoot(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  return here.includes(join('e2e', 'dist')) ? join(here, '../../..') : join(here, '../..');
}

/** The checkout. */
export const ROOT = findRoot();
/** The unpacked extension for Chromium. */
export const EXTENSION_DIR = join(ROOT, 'extension/dist/chromium');
/** The native host's command. */
export const HOST_SCRIPT = join(ROOT, 'native-host/dist/bin/hopwise-host.js');
/** Script and styles of the HTML report. */
export const REPORT_CLIENT_DIR = join(ROOT, 'e2e/dist/report');
/** Everything that a run may leave and the next may use again. */
export const CACHE_DIR = join(ROOT, '.cache');
