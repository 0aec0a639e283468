/**
 * Removes from URLs what may identify or authenticate a person: user name and password, query string and fragment. Within one
 * load equal URLs stay equal and different ones different, because their URLs distinguish requests.
 */

import { removeUserinfo } from '@hopwise/contract';

/** A query string that `UrlStripper` put in place of a real one. */
const MARKER = /\?(\d+)$/;

/** Replaces the query strings of one load's URLs by numbers, in the order in which the URLs first occur. */
export class UrlStripper {
  /** Query strings by number: the first is that of `?1`. */
  readonly queries: string[] = [];
  readonly #markers = new Map<string, string>();
  readonly #keepsQueries: boolean;

  /** @param keepsQueries whether query strings stay as they are */
  constructor(keepsQueries = false) {
    this.#keepsQueries = keepsQueries;
  }

  strip(url: string): string {
    const bare = removeUserinfoAndFragment(url);
    const at = bare.indexOf('?');
    if (at < 0 || this.#keepsQueries) return bare;
    let marker = this.#markers.get(bare);
    if (marker === undefined) {
      marker = `?${this.queries.push(bare.slice(at + 1))}`;
      this.#markers.set(bare, marker);
    }
    return bare.slice(0, at) + marker;
  }
}

export function removeUserinfoAndFragment(url: string): string {
  const hash = url.indexOf('#');
  return removeUserinfo(hash < 0 ? url : url.slice(0, hash));
}

/** Puts a query string back into a URL that `UrlStripper` stripped. */
export function restoreQuery(url: string, queries: readonly string[]): string {
  return url.replace(MARKER, (marker, number) => {
    const query = queries[Number(number) - 1];
    return query === undefined ? marker : `?${query}`;
  });
}

/** The number that stands for the query string of a stripped URL, and what comes before it; null for a URL without one. */
export function markerOf(url: string): { bareUrl: string; number: number } | null {
  const found = MARKER.exec(url);
  return found && { bareUrl: url.slice(0, found.index), number: Number(found[1]) };
}

/** The URL with an empty query string in place of its own, for comparison with a URL whose query string is not known. */
export function maskQuery(url: string): string {
  return removeUserinfoAndFragment(url).replace(/\?.*$/s, '?');
}

/** Removes the query strings and fragments of all URLs in a text, such as an error message. */
export function maskUrlsInText(text: string): string {
  return text.replace(/https?:\/\/[^\s"'<>]+/gi, maskQuery);
}
