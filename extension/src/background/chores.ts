/** What is to be done now and then: an hour apart at least, and not while a page loads. */
import { messageOf } from '@hopwise/contract';
import { StoredItem } from '../storage/stored-item.ts';

const AGAIN_MS = 3_600_000;

const doneAtMs = new StoredItem('session', 'chores-done-at', (value) =>
  typeof value === 'number' ? value : Number.NEGATIVE_INFINITY,
);

/** Does the chores unless that was within an hour. Never throws: what fails is tried again with the next ones. */
export async function doChores(
  chores: readonly (() => Promise<unknown>)[],
  nowMs = Date.now(),
): Promise<void> {
  const sinceMs = nowMs - (await doneAtMs.read());
  // A clock that was ahead is of no account.
  if (sinceMs >= 0 && sinceMs < AGAIN_MS) return;
  await doneAtMs.write(nowMs);
  for (const chore of chores)
    await chore().catch((error) => console.error('hopwise: a chore failed:', messageOf(error)));
}
