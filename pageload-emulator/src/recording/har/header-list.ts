import { objectOf } from './values.ts';

export interface Header {
  /** In lower case. */
  name: string;
  value?: unknown;
}

/** Headers as recorders list them: objects with a name, pairs of name and value, or one object with a field for each. */
export function headersIn(value: object): Header[] {
  const list = Array.isArray(value) ? value : Object.entries(value);
  const headers: Header[] = [];
  for (const header of list as unknown[]) {
    const named = Array.isArray(header) ? { name: header[0], value: header[1] } : objectOf(header);
    if (typeof named?.name === 'string') headers.push({ name: named.name.toLowerCase(), value: named.value });
  }
  return headers;
}
