import { START_RATE } from './start-rate.ts';

type Rule = chrome.declarativeNetRequest.Rule;

/**
 * The browser's rules that add the hint: to pages of the origins, and to what these pages request of their own site from these
 * origins. Other sites' requests get none, as for other hints (RFC 8942, section 4.1).
 */
export function makeRules(origins: readonly string[], mbps: number): Rule[] {
  return origins.flatMap((origin, index) => {
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
    const urlFilter = `|${origin}/`;
    const page = ['main_frame'] as chrome.declarativeNetRequest.ResourceType[];
    return [
      { id: 2 * index + 1, action, condition: { urlFilter, resourceTypes: page } },
      {
        id: 2 * index + 2,
        action,
        condition: {
          urlFilter,
          excludedResourceTypes: page,
          domainType: 'firstParty' as chrome.declarativeNetRequest.DomainType,
        },
      },
    ];
  });
}
