/** What uploads cost that an origin does not read. */
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { PROTOCOLS } from '@hopwise/contract';
import { expect, it } from 'vitest';
import { serveEngine } from '../support/engine.ts';
import { processorMs } from '../support/processor-time.ts';
import { asking } from './support/exchanges.ts';

/** Two of them exceed what the server takes of a connection, which is 1 MiB over HTTP/2, and each is less than it takes of a stream. */
const UPLOAD_BYTES = 700_000;
/** Until what the origin takes has gone out. */
const STALLED_AFTER_MS = 300;
const MEASURED_MS = 1_500;
const MAX_PROCESSOR_SHARE = 0.1;

const served = serveEngine();
const ask = asking(served);

it.each(PROTOCOLS)('take next to no processor time over %s', async (protocol) => {
  const uploads = [0, 1].map(() => {
    const body = new PassThrough();
    body.write(Buffer.alloc(UPLOAD_BYTES));
    return ask(protocol, '/silent', { method: 'POST', body });
  });
  await Promise.all(uploads.map(({ head }) => head));
  await sleep(STALLED_AFTER_MS);
  const pid = (await served.engine.pid())!;
  const [beganMs, before] = [performance.now(), processorMs(pid)];
  await sleep(MEASURED_MS);
  const share = (processorMs(pid) - before) / (performance.now() - beganMs);
  for (const upload of uploads) upload.cancel();
  expect(share).toBeLessThan(MAX_PROCESSOR_SHARE);
});
