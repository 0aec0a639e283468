import type { RecordedRequest } from '@hopwise/contract';

/** Whether a script is probably a module: Chromium requests those with a higher priority than other scripts that do not block. */
export function isModule({ type, url, urgency, renderBlocking }: RecordedRequest): boolean {
  return type === 'script' && (/\.mjs(\?|$)/.test(url) || (urgency === 1 && renderBlocking === false));
}

/** Whether a request is for a module that another module imports. */
export function isImport(request: RecordedRequest, parent: RecordedRequest): boolean {
  return isModule(request) && isModule(parent);
}
