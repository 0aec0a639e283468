/** What is packaged beside the trees: for which features they are, and where they are used. Written by `npm run model -- requests`. */
import { FEATURES } from '@hopwise/model';
import * as z from 'zod/mini';

const FORMAT = 1;

/** Name of the column that a joint model has besides: 0 for requests over TCP, 1 for QUIC. */
export const TRANSPORT_COLUMN = 'protocol';

const use = z.enum(['trees', 'rule']);
const descriptionSchema = z.object({
  format: z.literal(FORMAT),
  features: z.array(z.string()),
  /** Hash of the file with the trees, hexadecimal. */
  sha256: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
  /** What decides for an origin whose requests go over a transport: the trees, where they are better on held-out cells, or the rule. */
  uses: z.object({ tcp: use, quic: use }),
});

export type ModelDescription = z.infer<typeof descriptionSchema>;

/** @throws Error in one line for another version, or other features */
export function readDescription(json: unknown): ModelDescription {
  const parsed = descriptionSchema.safeParse(json);
  if (!parsed.success) {
    const { path, message } = parsed.error.issues[0]!;
    throw new Error(`transport.json: ${path.join('.') || 'expected an object'}: ${message}`);
  }
  const known = [FEATURES.join(), [...FEATURES, TRANSPORT_COLUMN].join()];
  const features = parsed.data.features.join();
  if (!known.includes(features))
    throw new Error(`transport.json: features: expected ${known[0]}, got ${features.slice(0, 200)}`);
  return parsed.data;
}
