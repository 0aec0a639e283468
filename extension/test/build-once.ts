import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Builds the extension before any integration test: they run side by side, and browsers have it open. */
export function setup(): void {
  const room = fileURLToPath(new URL('..', import.meta.url));
  execFileSync(process.execPath, ['build.mjs'], { cwd: room, stdio: 'inherit' });
}
