/** The library's declarations for its npm package, with those of the packages that they are made of. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import ts from 'typescript';

/** As the compiler of this repository resolves modules. */
const OPTIONS: ts.CompilerOptions = {
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
};
/** Modules that a declaration file imports or exports from: the only places with such words before a quote. */
const IMPORTS = /\b(?:from|import)\s*\(?\s*['"]([^'"]+)['"]/g;
const PACKAGES = ['pageload-emulator', 'contract'];

/**
 * Copies entry points' declarations and all that they import, so that their types are known without another package: imports of packages
 * become relative ones.
 *
 * @param entries declaration files
 * @throws Error in one line where an import leads nowhere
 */
export async function copyDeclarations(
  root: string,
  folder: string,
  entries: readonly string[],
): Promise<void> {
  const left = [...entries];
  const known = new Set(left);
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    const file = at;
    const target = join(folder, placeOf(root, file));
    const text = (await readFile(file, 'utf8')).replace(IMPORTS, (whole, name: string) => {
      const imported = resolve(name, file);
      if (!known.has(imported)) left.push(imported);
      known.add(imported);
      if (name.startsWith('.')) return whole;
      const path = relative(dirname(target), join(folder, placeOf(root, imported)))
        .split(sep)
        .join('/');
      const module = (path.startsWith('.') ? path : `./${path}`).replace(/\.d\.([cm]?)ts$/, '.$1js');
      return whole.replace(name, module);
    });
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, text.replace(/^\/\/# sourceMappingURL=.*\n?/m, ''));
  }
}

function resolve(name: string, from: string): string {
  const { resolvedModule } = ts.resolveModuleName(
    name,
    from,
    OPTIONS,
    ts.sys,
    undefined,
    undefined,
    ts.ModuleKind.ESNext,
  );
  if (resolvedModule === undefined) throw new Error(`${from}: expected the declarations of ${name}`);
  return resolvedModule.resolvedFileName;
}

/** Where a declaration file goes: `contract/index.d.ts`, `zod/v4/mini/index.d.ts`. */
function placeOf(root: string, file: string): string {
  const path = relative(root, file);
  const own = PACKAGES.find((name) => path.startsWith(join(name, 'dist') + sep));
  return own === undefined
    ? path.slice(path.lastIndexOf(`node_modules${sep}`) + `node_modules${sep}`.length)
    : join(own, relative(join(own, 'dist'), path));
}
