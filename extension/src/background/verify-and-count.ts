import type { Verification } from '@hopwise/contract';
import { verifyWithHelper } from '../helper/verify-with-helper.ts';
import { addBytes } from '../storage/verification-data.ts';

type Verify = typeof verifyWithHelper;

/**
 * Does what `verifyWithHelper` does, and adds what was transferred to the day's data. Without a result, that is the share of the planned bytes that the
 * transfers that ended have of all.
 */
export async function verifyAndCount(
  probe: Parameters<Verify>[0],
  onProgress: Parameters<Verify>[1],
  signal: AbortSignal,
  verify: Verify = verifyWithHelper,
): Promise<Verification> {
  let doneTransfers = 0;
  const verifying = verify(
    probe,
    (progress) => {
      ({ doneTransfers } = progress);
      onProgress(progress);
    },
    signal,
  );
  const verification = await verifying.catch(async (error) => {
    const { transfers } = probe.plan;
    const plannedBytes = transfers.reduce((sum, { bytes }) => sum + bytes, 0);
    await addBytes(Math.round((plannedBytes * doneTransfers) / transfers.length));
    throw error;
  });
  await addBytes(verification.bytes);
  return verification;
}
