/** The stores that were made to trust the root; written before they are changed, so that none is missed. */
import { join } from 'node:path';
import * as z from 'zod/mini';
import { readIn, unknownContent, writeIn } from './authority-store.ts';

const FILE = 'trusted.json';

const recordSchema = z.array(z.object({ folder: z.string(), browser: z.string() }));

type TrustRecord = z.infer<typeof recordSchema>;

/** @throws AuthorityError when it cannot be read. */
export function readTrustRecord(folder: string): TrustRecord {
  const text = readIn(folder, FILE);
  if (text === null) return [];
  try {
    return recordSchema.parse(JSON.parse(text));
  } catch {
    throw unknownContent(join(folder, FILE));
  }
}

export async function writeTrustRecord(folder: string, stores: TrustRecord): Promise<void> {
  await writeIn(folder, FILE, `${JSON.stringify(stores)}\n`);
}
