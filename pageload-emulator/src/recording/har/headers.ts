import type { HeaderName } from './header-names.ts';
import type { Entry } from './schema.ts';

/** The value of a header of a request or a response; null without one. */
export function headerOf(message: Entry['request'] | Entry['response'], name: HeaderName): string | null {
  const header = message?.headers?.find((each) => each.name === name);
  return typeof header?.value === 'string' && header.value !== '' ? header.value : null;
}

/** Where a redirect leads to, as its recorder or its header says; null without either. */
export function locationOf({ response }: Entry): string | null {
  return response?.redirectURL || headerOf(response, 'location');
}
