import koffi, { type LibraryHandle } from 'koffi';

/** glibc's name, then musl's. */
const NAMES = ['libc.so.6', 'libc.so', `libc.musl-${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}.so.1`];

/** Linux's C library, for socket functions that Node lacks; null on other systems, or when it cannot be loaded. */
export function cLibrary(names: readonly string[] = NAMES): LibraryHandle | null {
  if (process.platform !== 'linux') return null;
  for (const name of names) {
    try {
      return koffi.load(name);
    } catch {
      // Not on this system; try the next.
    }
  }
  return null;
}
