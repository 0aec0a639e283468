import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ROOT } from '../setup/programs.mjs';

/** The fixtures, after what they depend on. */
export const PLAYWRIGHT_PACKAGES = ['contract', 'pageload-emulator', 'lab', 'e2e'] as const;

/** Packs the Playwright fixtures and the packages that they depend on into a folder. Returns the exit code. */
export function packPlaywright(folder: string): number {
  const target = resolve(folder);
  mkdirSync(target, { recursive: true });
  const workspaces = PLAYWRIGHT_PACKAGES.flatMap((name) => ['--workspace', name]);
  const answer = execFileSync('npm', ['pack', '--json', ...workspaces, '--pack-destination', target], {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  // A list, or by package in later versions of npm.
  const packed: { filename: string }[] = Object.values(JSON.parse(answer));
  const files = packed.map(({ filename }) => join(target, filename));
  console.log(`In your project:\n  npm install --save-dev @playwright/test ${files.join(' ')}`);
  return 0;
}
