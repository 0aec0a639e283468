/**
 * A site on disk: `site.json` and the bodies beside it. Written by the page generator, the
 * structure replay of HARs and the recorder, served by the lab's replay server (which reads the same file in Go).
 */
import * as z from 'zod';

const origin = z.string().regex(/^https:\/\/[a-z0-9.-]+$/, 'expected https://host without port or path');

/** A response body: a file beside `site.json`, or filler that the server makes. */
const body = z.union([
  z.strictObject({ file: z.string().regex(/^[\w./-]+$/) }),
  z.strictObject({
    /** `png` is a valid image of `width` × `height` padded to `bytes`; `bytes` is seeded noise. */
    filler: z.enum(['png', 'bytes']),
    bytes: z.int().nonnegative(),
    width: z.int().positive().optional(),
    height: z.int().positive().optional(),
  }),
]);

export const siteSchema = z.strictObject({
  format: z.literal('hopwise-site'),
  version: z.literal(1),
  name: z.string(),
  /** URL to load. */
  entry: z.string(),
  origins: z.array(
    z.strictObject({
      origin,
      protocols: z.array(z.enum(['h1', 'h2', 'h3'])).min(1),
      /** Round trip of this origin's server beyond the link's. */
      extraRttMs: z.number().nonnegative(),
      /** Rate to which UDP from and to the server is policed in each direction, whatever the link does; not at all unless given. */
      udpMbps: z.number().min(0.001).max(10_000).optional(),
      /** On top of each resource's own; 0 unless given. */
      thinkMs: z.number().nonnegative().optional(),
      // The following default to the lab's settings.
      /** TCP's congestion control. */
      congestionControl: z.enum(['cubic', 'reno', 'bbr']).optional(),
      /** TCP's initial window, in segments. */
      initialWindow: z.int().min(1).max(1000).optional(),
      /** Highest rate at which its TCP or quiche sends, spreading a window over the round trip; without it they do not pace, but for BBR. */
      pacingMbps: z.number().positive().max(10_000).optional(),
      /** Whether the server asks for its clients' rates (`Accept-CH: Start-Rate`) and begins later connections at them; false unless given. */
      startRate: z.boolean().optional(),
      /** Whether the server honours request priorities (RFC 9218). */
      priorities: z.enum(['honoured', 'ignored']).optional(),
      /** Whether answers offer HTTP/3 by `Alt-Svc` (RFC 7838) where it is served; true unless given. */
      altSvc: z.boolean().optional(),
      /** Highest version of TLS over TCP; 1.3 unless given. */
      tlsVersion: z.enum(['1.2', '1.3']).optional(),
      /** Whether early data (0-RTT) is accepted over HTTP/3; false unless given. */
      earlyData: z.boolean().optional(),
    }),
  ),
  resources: z.array(
    z.strictObject({
      origin,
      /** Method that it answers; every method unless given. */
      method: z
        .string()
        .regex(/^[A-Z]{1,20}$/, 'expected a method in capitals')
        .optional(),
      /** SHA-256 in hex of the request's body, where requests differ only in that. */
      requestSha256: z
        .string()
        .regex(/^[0-9a-f]{64}$/)
        .optional(),
      /** Path with query, as requested. */
      path: z.string().startsWith('/'),
      status: z.int(),
      headers: z.record(z.string(), z.string()),
      body,
      /** Time between the request and the first byte of the answer. */
      thinkMs: z.number().nonnegative(),
    }),
  ),
  /** Seed and clock for the page's scripts: see `determinismScript`. */
  determinism: z.strictObject({ seed: z.int().min(0).max(0xffffffff), epochMs: z.number() }).optional(),
});

export type Site = z.infer<typeof siteSchema>;

/** A site of which every origin offers every protocol. */
export function siteOf(
  { name, entry, origins }: { name: string; entry: string; origins: readonly PlannedOrigin[] },
  resources: Site['resources'],
): Site {
  return {
    format: 'hopwise-site',
    version: 1,
    name,
    entry,
    origins: origins.map(({ origin, extraRttMs }) => ({
      origin,
      protocols: ['h1', 'h2', 'h3'],
      extraRttMs,
    })),
    resources,
  };
}

type PlannedOrigin = Pick<Site['origins'][number], 'origin' | 'extraRttMs'>;
