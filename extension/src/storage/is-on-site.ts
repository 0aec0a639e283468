/** Whether a URL is of one of the sites or of their subdomains. */
export function isOnSite(url: string, sites: readonly string[]): boolean {
  if (!URL.canParse(url)) return false;
  const host = new URL(url).hostname.replace(/\.$/, '');
  return sites.some((site) => host === site || host.endsWith(`.${site}`));
}
