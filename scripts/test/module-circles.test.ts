/** No modules of the lab's Rust server or of the model's Python import each other in a circle. Go forbids it for packages itself. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '@hopwise/lab/paths';
import { expect, test } from 'vitest';

type Imports = ReadonlyMap<string, readonly string[]>;

/** The first circle that a walk along the imports finds, as `a -> b -> a`, or null. */
function circle(imports: Imports): string | null {
  const done = new Set<string>();
  const walk = (module: string, path: readonly string[]): string | null => {
    if (path.includes(module)) return [...path.slice(path.indexOf(module)), module].join(' -> ');
    if (done.has(module)) return null;
    for (const next of imports.get(module) ?? []) {
      const found = walk(next, [...path, module]);
      if (found !== null) return found;
    }
    done.add(module);
    return null;
  };
  for (const module of imports.keys()) {
    const found = walk(module, []);
    if (found !== null) return found;
  }
  return null;
}

/** The modules below a folder by name, with what `importsOf` reads in each. */
function readModules(
  folder: string,
  ending: string,
  importsOf: (text: string, module: string) => string[],
): Imports {
  const files = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
  const texts = files
    .filter((file) => file.endsWith(ending))
    .map((file) => [
      file.slice(0, -ending.length).replaceAll('/', '.'),
      readFileSync(join(ROOT, folder, file), 'utf8'),
    ]);
  const names = new Set(texts.map(([name]) => name));
  return new Map(
    texts.map(([name, text]) => [name!, importsOf(text!, name!).filter((imported) => names.has(imported))]),
  );
}

/** The modules that `use crate::…` and paths in the code name. */
const rustImports = (text: string): string[] => [
  ...[...text.matchAll(/\bcrate::([a-z_]+)/g)].map((match) => match[1]!),
  ...[...text.matchAll(/\bcrate::\{([^}]*)\}/g)].flatMap((match) => match[1]!.match(/\b[a-z_]+\b/g) ?? []),
];

/** The modules that `from .name import` and `from . import name` load. */
function pythonImports(text: string, module: string): string[] {
  return [...text.matchAll(/^\s*from (\.+)([\w.]*) import ([^\n]+)/gm)].flatMap(([, dots, path, names]) => {
    const base = module.split('.').slice(0, -dots!.length);
    const own = [...base, ...(path === '' ? [] : path!.split('.'))];
    return [own, ...names!.split(',').map((name) => [...own, name.trim()])].map((parts) => parts.join('.'));
  });
}

test('finds a circle of three', () => {
  const imports = new Map([
    ['main', ['a']],
    ['a', ['b']],
    ['b', ['leaf', 'c']],
    ['c', ['a']],
    ['leaf', []],
  ]);
  expect(circle(imports)).toBe('a -> b -> c -> a');
  expect(circle(new Map([...imports, ['c', ['leaf']]]))).toBeNull();
});

test.each([
  ['use crate::a::{X, y};\nuse crate::b;', ['a', 'b']],
  ['use crate::{c, d::E};', ['c', 'd']],
  ['let x = crate::f::new();', ['f']],
])('reads %j', (text, modules) => expect(rustImports(text)).toEqual(expect.arrayContaining(modules)));

test('the Rust modules import each other in one direction', () => {
  const imports = readModules('lab/quiche/src', '.rs', rustImports);
  expect(imports.get('connection')).toContain('exchange');
  expect(circle(imports)).toBeNull();
});

test('the Python modules import each other in one direction', () => {
  const imports = readModules('model/python/hopwise_model', '.py', pythonImports);
  expect([...imports.values()].flat().length).toBeGreaterThan(20);
  expect(circle(imports)).toBeNull();
});
