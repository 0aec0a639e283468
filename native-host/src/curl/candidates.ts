/** Where a libcurl may be found, and in which order the places are tried. */
import { existsSync, readdirSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { compareDebianVersions } from '../base/debian-version.ts';
import { dataDirectory, packageFolder } from '../base/paths.ts';

export interface LibcurlCandidate {
  /** Passed to the loader: a path, or a name that it looks up itself. */
  path: string;
  from: 'given' | 'system' | 'package' | 'private';
  /** Folder of the libraries that this one needs, '' when the system has them. */
  libraryFolder: string;
}

const SYSTEM: Partial<Record<NodeJS.Platform, string[]>> = {
  linux: ['libcurl.so.4', 'libcurl-gnutls.so.4'],
  // Homebrew's curl is not on the loader's path; the system's own has no HTTP/3.
  darwin: [
    '/opt/homebrew/opt/curl/lib/libcurl.4.dylib',
    '/usr/local/opt/curl/lib/libcurl.4.dylib',
    '/usr/lib/libcurl.4.dylib',
  ],
  win32: ['libcurl-x64.dll', 'libcurl-arm64.dll', 'libcurl.dll'],
};

/** Folder of the private copies that `setup` makes, one subfolder per Debian version. */
export function privateFolder(): string {
  return join(dataDirectory(), 'libcurl');
}

export const PRIVATE_LIBRARY = 'libcurl-gnutls.so.4';

/** Folders of the complete private copies, newest version first. */
export function privateCopies(): string[] {
  const folder = privateFolder();
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => !name.startsWith('.') && existsSync(join(folder, name, PRIVATE_LIBRARY)))
    .sort((a, b) => compareDebianVersions(b, a))
    .map((name) => join(folder, name));
}

/**
 * The candidates in the order in which they are tried: the given path, the system's libraries, which the system updates, that of
 * an installed package, the private copies.
 * A given path is tried alone, so that its errors are reported.
 */
export function libcurlCandidates(given: string): LibcurlCandidate[] {
  if (given) return [{ path: given, from: 'given', libraryFolder: isAbsolute(given) ? dirname(given) : '' }];
  const system = (SYSTEM[process.platform] ?? []).map(
    (path): LibcurlCandidate => ({ path, from: 'system', libraryFolder: '' }),
  );
  const packaged = packageFolder() && join(packageFolder(), 'libcurl');
  const bundled: LibcurlCandidate[] =
    packaged && existsSync(join(packaged, PRIVATE_LIBRARY))
      ? [{ path: join(packaged, PRIVATE_LIBRARY), from: 'package', libraryFolder: packaged }]
      : [];
  const copies = privateCopies().map(
    (folder): LibcurlCandidate => ({
      path: join(folder, PRIVATE_LIBRARY),
      from: 'private',
      libraryFolder: folder,
    }),
  );
  return [...system, ...bundled, ...copies];
}
