/** Extensions of a few lines, which tell what of an extension's cost is the browser's: none of them does anything. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** `empty`: nothing but a name. `permissions`: hopwise's permissions. The others: an empty content script, injected then. */
export const SMALL_EXTENSIONS = [
  'empty',
  'permissions',
  'document_start',
  'document_end',
  'document_idle',
] as const;
export type SmallExtension = (typeof SMALL_EXTENSIONS)[number];

interface Manifest {
  permissions?: string[];
  host_permissions?: string[];
}

const SCRIPT = 'empty.js';

/**
 * Writes a small extension.
 *
 * @param dir a folder, which is made
 * @param hopwise folder of the built extension, whose permissions or sites it takes
 */
export async function writeSmallExtension(kind: SmallExtension, dir: string, hopwise: string): Promise<void> {
  const { permissions, host_permissions } = JSON.parse(
    await readFile(join(hopwise, 'manifest.json'), 'utf8'),
  ) as Manifest;
  const manifest = {
    manifest_version: 3,
    name: `Nothing: ${kind}`,
    version: '1',
    ...(kind === 'permissions' && { permissions, host_permissions }),
    ...(kind.startsWith('document_') && {
      content_scripts: [{ matches: host_permissions, js: [SCRIPT], run_at: kind }],
    }),
  };
  await mkdir(dir, { recursive: true });
  await writeFile(join(dir, 'manifest.json'), JSON.stringify(manifest));
  await writeFile(join(dir, SCRIPT), '');
}
