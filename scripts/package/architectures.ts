/** The machines that helper packages are made for. */

/** Debian's names. */
export const ARCHITECTURES = ['amd64', 'arm64'] as const;
export type Architecture = (typeof ARCHITECTURES)[number];

/** Node's names, as in the packages that hold binaries for one machine. */
export const NODE_ARCHITECTURE: Readonly<Record<Architecture, string>> = { amd64: 'x64', arm64: 'arm64' };
