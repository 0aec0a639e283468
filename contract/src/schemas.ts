/** Schemas that several contracts share. */
import * as z from 'zod/mini';
import { PROTOCOLS } from './protocol.ts';

export const protocolSchema = z.enum(PROTOCOLS);
export const nonNegative = z.number().check(z.nonnegative());
export const count = z.int().check(z.nonnegative());
export const text = (max: number) => z.string().check(z.maxLength(max));
export const httpsUrl = z.string().check(z.maxLength(8192), z.regex(/^https:\/\//));

/** A global of browsers and of Node. */
declare const URL: {
  canParse(text: string): boolean;
  new (text: string): { origin: string; protocol: string };
};

/** `https://` with DNS's longest name in text form (RFC 1035, section 2.3.4), a colon and a port. */
const MAX_ORIGIN_LENGTH = 'https://'.length + 254 + ':65535'.length;

/** `https://host[:port]` as `URL.origin` serialises it, so that an origin has exactly one form. */
export const originSchema = z.string().check(
  z.maxLength(MAX_ORIGIN_LENGTH),
  z.refine((text) => {
    if (!URL.canParse(text)) return false;
    const url = new URL(text);
    return url.protocol === 'https:' && url.origin === text;
  }, 'expected an origin such as https://example.org'),
);
