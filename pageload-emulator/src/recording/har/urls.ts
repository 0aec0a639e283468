import { originOf } from '../../util/url.ts';

/** Normalises a URL as browsers do to compare: origin in lower case without its default port, `/` for no path, no fragment. */
export function urlKey(url: string): string {
  const hash = url.indexOf('#');
  const whole = hash < 0 ? url : url.slice(0, hash);
  const origin = originOf(whole);
  if (origin === null) return whole;
  const path = whole.slice(whole.indexOf('//') + 2);
  const slash = path.search(/[/?]/);
  if (slash < 0) return `${origin}/`;
  return path[slash] === '?' ? `${origin}/${path.slice(slash)}` : origin + path.slice(slash);
}

/** `urlKey` without the query, which some recorders leave out or replace. */
export function pathKey(url: string): string {
  const key = urlKey(url);
  const query = key.indexOf('?');
  return query < 0 ? key : key.slice(0, query);
}
