/** User name and password of URLs, which no output repeats. */

/** Everything in the authority before its last "@" (RFC 3986 section 3.2.1). */
const USERINFO = /^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i;

/** What may be an authority in a text: it ends where browsers end one, or the text says so. */
const AUTHORITIES = /[^\s\\/?#"]+/g;

/** What browsers understand before an authority (URL standard, "special authority slashes"), which any number of slashes may follow. */
const SCHEME = /\bhttps?:/i;

/** The URL without user name and password. */
export function removeUserinfo(url: string): string {
  return url.replace(USERINFO, '$1');
}

/**
 * A text, such as an error message, whose web URLs have no user name and password. Takes linear time: each part between slashes and blanks is
 * looked at once, as texts may repeat what a hostile file says.
 */
export function removeUserinfoInText(text: string): string {
  return text.replace(AUTHORITIES, (authority, start: number) => {
    const end = authority.lastIndexOf('@') + 1;
    if (end === 0) return authority;
    if (isAfterScheme(text, start)) return authority.slice(end);
    // Without slashes the scheme is in the same part.
    const scheme = SCHEME.exec(authority.slice(0, end));
    if (!scheme) return authority;
    return authority.slice(0, scheme.index + scheme[0].length) + authority.slice(end);
  });
}

function isAfterScheme(text: string, start: number): boolean {
  let at = start;
  while (text[at - 1] === '/' || text[at - 1] === '\\') at -= 1;
  return /\bhttps?:$/i.test(text.slice(Math.max(0, at - ' https:'.length), at));
}
