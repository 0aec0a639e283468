import { t } from '../language/translate.ts';

/**
 * Reads a site that a user excludes: a host, optionally with `*.` before it or as part of a URL.
 *
 * @returns its host as browsers serialize it (in lower case, international names in Punycode)
 * @throws Error with a message to show when it is no host
 */
export function normalizeSite(text: string): string {
  const host = text
    .trim()
    .replace(/^https?:\/\//i, '')
    .replace(/^\*\./, '');
  const hostname = URL.canParse(`https://${host}`) ? new URL(`https://${host}`).hostname : '';
  // Browsers differ in whether a host may contain other characters.
  if (!/^[\w.:[\]-]+$/.test(hostname)) {
    throw new Error(t('siteExpected', { text: text.trim() }));
  }
  return hostname.replace(/\.$/, '');
}
