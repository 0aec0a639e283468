/**
 * A terminating proxy alone in its process, with the authority in `HOPWISE_BENCH_CA`: prints its port, then pins the origin of each line of
 * its input, such as `h2 localhost:8443`, and prints how it does once that is terminated. Ends with its input.
 */
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { LocalLeafIssuer } from '../dist/src/ca/leaf-issuer.js';
import { Engine } from '../dist/src/engine/engine.js';
import { LoopbackProxy } from '../dist/src/pin/proxy/loopback-proxy.js';
import { TerminatingProxy } from '../dist/src/pin/terminating/terminating-proxy.js';
import { SECRET } from '../test/proxy/support/peers.ts';

/** What it prints of itself and its engine. */
export interface TerminatingState {
  residentBytes: number;
}

const log = (line: string): void => void process.stderr.write(`${line}\n`);
const engine = new Engine();
let onReady: () => void = () => {};
const terminating = new TerminatingProxy({
  engine,
  issuer: new LocalLeafIssuer({ log, folder: process.env.HOPWISE_BENCH_CA }),
  log,
  onLifted: () => process.exit(1),
  onReady: () => onReady(),
});
const proxy = new LoopbackProxy({
  secret: SECRET,
  log,
  route: (host, port) => terminating.route(host, port),
});
await engine.start();
print({ port: await proxy.listen() });
for await (const line of createInterface(process.stdin)) {
  if (line) {
    const [, protocol, host, port] = /^(h1|h2|h3) (.+):(\d+)$/.exec(line)!;
    const ready = new Promise<void>((resolve) => {
      onReady = resolve;
    });
    terminating.unpin(host!, Number(port));
    terminating.pin(host!, Number(port), protocol as 'h1' | 'h2' | 'h3');
    await ready;
  }
  const pids = [process.pid, (await engine.pid())!];
  const state: TerminatingState = { residentBytes: pids.reduce((sum, pid) => sum + residentBytes(pid), 0) };
  print(state);
}
terminating.close();
await proxy.close();
await engine.close();

function residentBytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) * 1024;
}

function print(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}
