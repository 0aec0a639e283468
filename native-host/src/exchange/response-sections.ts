import type { HeaderField } from './headers.ts';

/** A status and its header fields: of a 1xx response or of the final one. */
export interface ResponseSection {
  status: number;
  headers: HeaderField[];
}

/** Assembles 1xx responses, the final response and the trailers from libcurl's header lines. */
export class ResponseSections {
  readonly trailers: HeaderField[] = [];
  #open: ResponseSection | null = null;
  #final = false;

  /** @returns the section that this line completes; null for none. */
  line(text: string): ResponseSection | null {
    const line = withoutEnd(text);
    if (!this.#open && !this.#final) {
      const status = Number(line.match(/^HTTP\/\d(?:\.\d)? (\d{3})/)?.[1] ?? 0);
      this.#open = { status, headers: [] };
      return null;
    }
    if (line !== '') {
      addField(this.#open?.headers ?? this.trailers, line);
      return null;
    }
    const section = this.#open;
    this.#open = null;
    if (section) this.#final = section.status >= 200;
    return section;
  }
}

function addField(fields: HeaderField[], line: string): void {
  const last = fields.at(-1);
  // A folded line continues the previous one (RFC 9112 section 5.2).
  if (isBlank(line, 0) && last) {
    fields[fields.length - 1] = [last[0], `${last[1]} ${trim(line)}`];
    return;
  }
  const colon = line.indexOf(':');
  if (colon > 0) fields.push([line.slice(0, colon), trim(line.slice(colon + 1))]);
}

function withoutEnd(text: string): string {
  if (!text.endsWith('\n')) return text;
  return text.slice(0, text.endsWith('\r\n') ? -2 : -1);
}

/** Strips HTTP's optional whitespace, which is less than what `String.trim` strips. */
function trim(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text, start)) start += 1;
  while (end > start && isBlank(text, end - 1)) end -= 1;
  return text.slice(start, end);
}

function isBlank(text: string, at: number): boolean {
  const char = text.charCodeAt(at);
  return char === 0x20 || char === 0x09;
}
