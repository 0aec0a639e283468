/** Paths of a replay's requests. */
import { createHash } from 'node:crypto';

/** URLs keep their recorded length, as they count in the upload, up to what servers accept. */
const MAX_PATH_LENGTH = 2000;
/** Characters kept of a recorded path: URLs count in the size of the bodies that name them. */
const MAX_READABLE = 64;

/**
 * Gives each request a path that a person recognises: the recorded path's last segments, and a digest in place of its query and
 * of what was cut. The same length as recorded, unless requests that are alike need a longer one to stay distinct.
 */
export class ReplayPaths {
  readonly #taken = new Set<string>();

  /** @param host of the replay @param id unique among the requests */
  of(url: string, host: string, id: number): string {
    const { pathname, search } = new URL(url);
    const length = Math.min(pathname.length + search.length, MAX_PATH_LENGTH);
    const readable = readablePath(pathname);
    const digest = createHash('sha256').update(url).digest('hex').slice(0, 8);
    const missing = length - readable.length - 1;
    let path = missing > 0 ? `${readable}?${repeated(digest, missing)}` : readable;
    if (this.#taken.has(host + path))
      path = `${readable}?${id}${repeated(`-${digest}`, missing - String(id).length)}`;
    while (this.#taken.has(host + path)) path += '-';
    this.#taken.add(host + path);
    return path;
  }
}

/** Repeated so that text that names many URLs is compressed as well as recorded text. */
const repeated = (text: string, length: number): string =>
  text.repeat(Math.ceil(Math.max(0, length) / text.length)).slice(0, Math.max(0, length));

/** Keeps as many of the last segments as there is space for, with characters that mean nothing in HTML, CSS and scripts. */
function readablePath(pathname: string): string {
  const plain = pathname.replace(/[^\w.~/-]/g, '-').replace(/\/(?=\/)/g, '-');
  if (plain.startsWith('/') && plain.length <= MAX_READABLE) return plain;
  const end = plain.slice(1 - MAX_READABLE);
  const segment = end.indexOf('/');
  // A last segment that is too long by itself is cut.
  return segment === -1 || segment === end.length - 1 ? `/${end}` : end.slice(segment);
}
