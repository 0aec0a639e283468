import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/**
 * Builds the extension before any integration test: they run in parallel, with the build loaded in browsers. Another run in the same
 * checkout may do so meanwhile, as a build of the same sources changes no file.
 */
export function setup(): void {
  const packageRoot = fileURLToPath(new URL('../..', import.meta.url));
  execFileSync(process.execPath, ['build.mjs'], { cwd: packageRoot, stdio: 'inherit' });
}
