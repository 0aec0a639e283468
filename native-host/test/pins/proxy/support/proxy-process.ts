/** A proxy alone in its process: prints its port, and at each line of its input how it does. Ends with its input. */
import { createInterface } from 'node:readline';
import { LoopbackProxy } from '../../../../src/pins/proxy/loopback-proxy.ts';

/** What it prints when asked. */
export interface ProxyState {
  open: number;
  residentBytes: number;
  processorMs: number;
}

const proxy = new LoopbackProxy({
  route: () => ({ kind: 'tunnel', from: 'loopback' }),
  log: (line) => process.stderr.write(`${line}\n`),
});
print({ port: await proxy.listen() });
for await (const _ of createInterface(process.stdin)) {
  globalThis.gc?.();
  const { user, system } = process.cpuUsage();
  const state: ProxyState = {
    open: proxy.open,
    residentBytes: process.memoryUsage.rss(),
    processorMs: (user + system) / 1000,
  };
  print(state);
}
await proxy.close();

function print(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}
