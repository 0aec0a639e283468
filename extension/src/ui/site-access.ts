export const ALL_SITES: chrome.permissions.Permissions = { origins: ['http://*/*', 'https://*/*'] };

/**
 * The match pattern of a site as a person names it: `example.org`, or the URL of one of its pages. Subdomains belong to it.
 *
 * @returns null for what names no site
 */
export function parseSitePattern(text: string): string | null {
  const trimmed = text.trim();
  if (trimmed === '') return null;
  const whole = /^https?:\/\//i.test(trimmed) ? trimmed : `https://${trimmed}`;
  if (!URL.canParse(whole)) return null;
  const { hostname, username } = new URL(whole);
  // A match pattern has neither ports nor wildcards within a name.
  if (username !== '' || !/^[a-z0-9.-]+$/.test(hostname)) return null;
  return /^[0-9.]+$/.test(hostname) ? `*://${hostname}/*` : `*://*.${hostname}/*`;
}
