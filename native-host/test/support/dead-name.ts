/** Asks for a name that is never answered for, gives up after 500 ms and prints how long that took. */
import { Engine } from '../../src/engine/engine.ts';
import { roundTransfer } from './round-transfer.ts';

const engine = new Engine();
await engine.start();
const cancel = new AbortController();
setTimeout(() => cancel.abort(), 500);
const begin = performance.now();
const report = await engine.run(
  {
    transfers: [roundTransfer({ url: 'https://dead.example/', host: 'dead.example:443', protocol: 'h2' })],
    userAgent: 'hopwise-test/1',
    maxBytes: 1000,
    connectTimeoutMs: { h1: 30_000, h2: 30_000, h3: 30_000 },
    totalTimeoutMs: 30_000,
    stallSeconds: 30,
    stopOn: [],
    pageFrom: 'public',
  },
  { signal: cancel.signal },
);
process.stdout.write(JSON.stringify({ ended: report.ended, ms: performance.now() - begin }));
await engine.close();
