/**
 * Packs the Playwright fixtures and the packages that they depend on, for a project outside this checkout:
 *
 *   npm run pack:playwright -- DIR
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ROOT } from './setup-programs.mjs';

/** The fixtures, after what they depend on. */
const PACKAGES = ['contract', 'pageload-emulator', 'lab', 'e2e'];

const [folder, ...others] = process.argv.slice(2);
if (folder === undefined || folder.startsWith('-') || others.length > 0) {
  console.error('usage: npm run pack:playwright -- DIR');
  process.exit(2);
}
// npm runs scripts in the checkout, whatever folder it was called from.
const target = resolve(process.env.INIT_CWD ?? '.', folder);
mkdirSync(target, { recursive: true });
const workspaces = PACKAGES.flatMap((name) => ['--workspace', name]);
const words = ['pack', '--json', ...workspaces, '--pack-destination', target];
const answer = execFileSync('npm', words, {
  cwd: ROOT,
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'inherit'],
});
// A list, or by package in later versions of npm.
const files = Object.values(JSON.parse(answer)).map(({ filename }) => join(target, filename));
console.log(`In your project:\n  npm install --save-dev @playwright/test ${files.join(' ')}`);
