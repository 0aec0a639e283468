import * as module from 'node:module';
import { join } from 'node:path';
import { stateDirectory } from './paths.ts';

/** Node before 22.8 keeps no compiled code. */
type CompileCache = Partial<Pick<typeof module, 'enableCompileCache' | 'getCompileCacheDir'>>;

/** The folder of the helper's compiled code, which the user alone can write to, as it is run. */
const folder = (): string => join(stateDirectory(), 'compiled');

let isKept = false;

/** Keeps the compiled code of what is imported from now on for later runs. Where that is not possible, they compile it again. */
export function keepCompiledCode(): void {
  const { enableCompileCache, getCompileCacheDir } = module as CompileCache;
  enableCompileCache?.(folder());
  isKept = getCompileCacheDir?.() !== undefined;
}

/** The environment in which another process of the helper does the same from its start on; nothing where this one does not. */
export const compiledCodeSettings = (): Record<string, string> =>
  isKept ? { NODE_COMPILE_CACHE: folder() } : {};
