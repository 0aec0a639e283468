/**
 * A terminating proxy alone in its process, with the authority in `HOPWISE_BENCH_CA`: prints its port, then pins the origin of each line of
 * its input, such as `h2 localhost:8443`, and prints how it does once that is terminated. Ends with its input.
 */
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { readAuthority } from '../dist/src/ca/authority-store.js';
import { LocalLeafIssuer } from '../dist/src/ca/leaf-issuer.js';
import { Engine } from '../dist/src/engine/engine.js';
import { TRUST_TRIAL_PORT } from '../dist/src/messages/schema.js';
import { LoopbackProxy } from '../dist/src/pin/proxy/loopback-proxy.js';
import { TerminatingProxy } from '../dist/src/pin/terminating/terminating-proxy.js';
import { SECRET } from '../test/proxy/support/peers.ts';
import { showTrust } from '../test/terminating/support/show-trust.ts';

/** What it prints of itself and its engine. */
export interface TerminatingState {
  residentBytes: number;
}

const folder = process.env.HOPWISE_BENCH_CA!;
const { root } = readAuthority(folder)!;
const log = (line: string): void => void process.stderr.write(`${line}\n`);
const engine = new Engine();
let onReady: () => void = () => {};
const terminating = new TerminatingProxy({
  engine,
  issuer: new LocalLeafIssuer({ log, folder }),
  log,
  onLifted: () => process.exit(1),
  onReady: () => onReady(),
  onDoubt: () => {},
});
const proxy = new LoopbackProxy({
  secret: SECRET,
  log,
  route: (host, port) =>
    port === TRUST_TRIAL_PORT ? terminating.trial(host) : terminating.route(host, port),
});
await engine.start();
const port = await proxy.listen();
print({ port });
for await (const line of createInterface(process.stdin)) {
  if (line) {
    const [, protocol, host, originPort] = /^(h1|h2|h3) (.+):(\d+)$/.exec(line)!;
    const ready = new Promise<void>((resolve) => {
      onReady = resolve;
    });
    terminating.unpin(host!, Number(originPort));
    terminating.pin(host!, Number(originPort), protocol as 'h1' | 'h2' | 'h3');
    if (terminating.trial(host!).kind === 'terminate') await showTrust(port, host!, root);
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
