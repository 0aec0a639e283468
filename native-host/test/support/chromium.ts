import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { DISABLED_FEATURES } from '../../../lab/src/browser/chromium-features.ts';
import { homeEnvironment } from './command.ts';

/** Chromium that ends by itself takes seconds; a machine may be busy. */
const TIMEOUT_MS = 90_000;

/**
 * Loads a page in real Chromium, as the user whose home folder this is, and ends when it has loaded.
 *
 * @param port where every host below `.test` is served; there are no others.
 */
export async function loadInChromium(home: string, url: string, port: number): Promise<void> {
  const program = process.env.HOPWISE_CHROMIUM ?? '/usr/bin/chromium';
  const child = spawn(
    program,
    [
      '--headless=new',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
      DISABLED_FEATURES,
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      `--user-data-dir=${join(home, 'profile')}`,
      `--host-resolver-rules=MAP *.test 127.0.0.1:${port}, MAP * ~NOTFOUND`,
      '--dump-dom',
      url,
    ],
    { env: homeEnvironment(home), stdio: 'ignore', timeout: TIMEOUT_MS },
  );
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`${program} ended with ${code ?? signal}`));
    });
  });
}
