import { START_RATE } from './start-rate.ts';

type Rule = chrome.declarativeNetRequest.Rule;

/**
 * The browser's rules that add the hint: to pages of the sites, and to what these pages request of their own site. Other sites' requests get none, as for
 * other hints (RFC 8942, section 4.1).
 *
 * @param sites as `siteForHints` names them
 * @param excludedSites hosts that get none, nor do their subdomains
 */
export function makeRules(sites: readonly string[], excludedSites: readonly string[], mbps: number): Rule[] {
  const page = ['main_frame'] as chrome.declarativeNetRequest.ResourceType[];
  const action: Rule['action'] = {
    type: 'modifyHeaders' as Rule['action']['type'],
    requestHeaders: [
      {
        header: START_RATE,
        operation: 'set' as chrome.declarativeNetRequest.HeaderOperation,
        value: String(mbps),
      },
    ],
  };
  return sites.flatMap((site, index) => {
    const { protocol, hostname } = new URL(site);
    const condition = {
      urlFilter: `|${protocol}//`,
      requestDomains: [hostname],
      ...(excludedSites.length > 0 && { excludedRequestDomains: [...excludedSites] }),
    };
    return [
      { id: 2 * index + 1, action, condition: { ...condition, resourceTypes: page } },
      {
        id: 2 * index + 2,
        action,
        condition: {
          ...condition,
          excludedResourceTypes: page,
          domainType: 'firstParty' as chrome.declarativeNetRequest.DomainType,
        },
      },
    ];
  });
}
