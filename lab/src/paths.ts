import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the packages: this file is `lab/src/paths.ts` under vitest, `lab/dist/paths.js` once built. */
export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');
/** The unpacked extension for Chromium. */
export const EXTENSION_DIR = join(ROOT, 'extension/dist/chromium');
/** The one for Firefox. */
export const FIREFOX_EXTENSION_DIR = join(ROOT, 'extension/dist/firefox');
/** The native host's command. */
export const HOST_SCRIPT = join(ROOT, 'native-host/dist/bin/hopwise-host.js');
/** Cache that runs share. */
export const CACHE_DIR = join(ROOT, '.cache');
