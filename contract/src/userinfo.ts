/** User name and password of URLs, which no output repeats. */

/** Everything in the authority before its last "@" (RFC 3986 section 3.2.1). */
const USERINFO = /^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i;

/** User name and password of any web URL in a text, also in the spellings that browsers understand (URL standard, "special authority slashes"). */
const USERINFO_IN_TEXT = /\b(https?:[\\/]*)[^\s\\/?#"]*@/gi;

/** The URL without user name and password. */
export function removeUserinfo(url: string): string {
  return url.replace(USERINFO, '$1');
}

/** A text, such as an error message, whose URLs have no user name and password. */
export function removeUserinfoInText(text: string): string {
  return text.replace(USERINFO_IN_TEXT, '$1');
}
