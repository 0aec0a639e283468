import { messageOf } from './error-text.ts';

/** What the codes of the operating system mean for a person who named a file. */
const READING: Readonly<Record<string, string>> = {
  ENOENT: 'but there is none',
  EISDIR: 'but it is a folder',
  ENOTDIR: 'but its path leads through a file',
  EACCES: 'but reading it is not permitted',
  EPERM: 'but reading it is not permitted',
  ELOOP: 'but its links lead in a circle',
  ENAMETOOLONG: 'but its name is too long',
};
const WRITING: Readonly<Record<string, string>> = {
  ...READING,
  ENOENT: 'but its folder is missing',
  EACCES: 'but writing it is not permitted',
  EPERM: 'but writing it is not permitted',
  EEXIST: 'but there is a file of that name',
  EROFS: 'but its disk can only be read',
  ENOSPC: 'but its disk is full',
  EDQUOT: 'but your share of its disk is full',
};

/** Says why a file could not be read, as the end of "expected a readable file, …". */
export const readingProblem = (thrown: unknown): string => problemOf(thrown, READING);

/** Says why a file could not be written, as the end of "expected a file that can be written, …". */
export const writingProblem = (thrown: unknown): string => problemOf(thrown, WRITING);

/** Whether a file could not be written for want of room, which no program foresees. */
export function isOutOfRoom(thrown: unknown): boolean {
  const { code } = (thrown ?? {}) as { code?: unknown };
  return code === 'ENOSPC' || code === 'EDQUOT';
}

/**
 * Says what is wrong with a gzipped file that could not be unpacked; null for any other error.
 *
 * @param maxBytes most that was unpacked, where that was limited at once
 */
export function unpackingProblem(thrown: unknown, maxBytes: number | null = null): string | null {
  const { code } = thrown as { code?: unknown };
  if (typeof code !== 'string' || !/^Z_|^ERR_BUFFER_TOO_LARGE$/.test(code)) return null;
  const limit = maxBytes === null ? '' : ` of at most ${Math.round(maxBytes / 1e6)} MB`;
  const found = code === 'Z_BUF_ERROR' ? 'data that ends too early' : messageOf(thrown);
  return `top level: expected gzip data${limit}, got ${found}`;
}

function problemOf(thrown: unknown, words: Readonly<Record<string, string>>): string {
  const { code } = thrown as { code?: unknown };
  if (typeof code !== 'string') return `got ${messageOf(thrown)}`;
  return Object.hasOwn(words, code) ? words[code]! : `got ${code}`;
}
