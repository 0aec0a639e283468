import { openLog } from '../src/base/log.ts';
import { serve } from '../src/host.ts';
import { launchingBrowser } from '../src/install/launch.ts';
import { EXIT_FAILURE } from './output.ts';

/** Answers the browser that started this process, and ends with it. */
export async function serveBrowser(): Promise<void> {
  const log = openLog();
  process.on('uncaughtException', (fault) => {
    log(`uncaught: ${fault.stack}`);
    process.exit(EXIT_FAILURE);
  });
  const inOrder = await serve({
    input: process.stdin,
    output: process.stdout,
    log,
    browser: launchingBrowser(process.argv.slice(2)),
  });
  // A message that the browser has not read would keep the process alive.
  process.exit(inOrder ? 0 : EXIT_FAILURE);
}
