import type { BrowserContext } from 'playwright-core';

/**
 * Memory of the extension's worker after a garbage collection, bytes: its JavaScript objects, without what the engine reserves.
 *
 * @throws Error if no worker runs
 */
export async function measureWorkerHeap(context: BrowserContext): Promise<number> {
  // Playwright has no session of its own for workers.
  const session = await context.browser()!.newBrowserCDPSession();
  const { targetInfos } = await session.send('Target.getTargets');
  const worker = targetInfos.find(({ type }) => type === 'service_worker');
  if (!worker) throw new Error('no worker runs');
  const { sessionId } = await session.send('Target.attachToTarget', { targetId: worker.targetId });
  const usage = new Promise<{ usedSize: number }>((resolve) => {
    session.on('Target.receivedMessageFromTarget', ({ message }) => {
      const { id, result } = JSON.parse(message);
      if (id === 2) resolve(result);
    });
  });
  for (const [index, method] of ['HeapProfiler.collectGarbage', 'Runtime.getHeapUsage'].entries()) {
    const message = JSON.stringify({ id: index + 1, method });
    await session.send('Target.sendMessageToTarget', { sessionId, message });
  }
  const { usedSize } = await usage;
  await session.detach();
  return usedSize;
}
