import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What the extension asks for before it records in detail. */
const FOR_RECORDINGS = ['webRequest', 'declarativeNetRequestWithHostAccess'];

/**
 * Writes an edition of the built extension for Chromium, which differs from it in its manifest alone: it has from the start what people
 * give it to record in detail, which would take a click and another start of the browser.
 *
 * @param built folder of the built extension, or of a copy
 * @param into folder to make
 * @returns the folder
 */
export async function writeDetailedEdition(built: string, into: string): Promise<string> {
  await cp(built, into, { recursive: true });
  const file = join(into, 'manifest.json');
  const manifest = JSON.parse(await readFile(file, 'utf8')) as {
    permissions: string[];
    optional_permissions: string[];
  };
  const isOther = (name: string) => !FOR_RECORDINGS.includes(name);
  const permissions = [...manifest.permissions.filter(isOther), ...FOR_RECORDINGS];
  const optional_permissions = manifest.optional_permissions.filter(isOther);
  await writeFile(file, JSON.stringify({ ...manifest, permissions, optional_permissions }));
  return into;
}
