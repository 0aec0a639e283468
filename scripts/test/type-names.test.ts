/** A name of an exported type means one thing in the whole repository. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '@hopwise/lab/paths';
import { expect, test } from 'vitest';

const EXPORTED_TYPE = /^export (?:declare )?(?:abstract )?(?:type|interface|class|enum) (\w+)/gm;

test('no exported type has the name of another', () => {
  const files = readdirSync(ROOT, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules')
    .flatMap(({ name }) => [...sourcesBelow(join(name, 'src')), ...sourcesBelow(join(name, 'bin'))]);
  expect(files.length).toBeGreaterThan(500);
  const definitions = new Map<string, string[]>();
  for (const file of files) {
    for (const [, name] of readFileSync(join(ROOT, file), 'utf8').matchAll(EXPORTED_TYPE)) {
      definitions.set(name!, [...(definitions.get(name!) ?? []), file]);
    }
  }
  expect(
    [...definitions].filter(([, where]) => where.length > 1),
    'give one of them a name that says whose it is, or export it no longer',
  ).toEqual([]);
});

/** TypeScript files of a folder, relative to the repository; none where there is no such folder. */
function sourcesBelow(folder: string): string[] {
  try {
    return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && !/(^|\/)(dist|node_modules)\//.test(path))
      .map((path) => join(folder, path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
