/**
 * A terminating proxy alone in its process, with the authority in `HOPWISE_BENCH_CA`, built as the host is, so that its memory is the
 * host's: prints its port and the processes; pins the origin of a line of its input, such as
 * `h2 localhost:8443`; after an empty line says when that is terminated. Ends with its input.
 */
import { createInterface } from 'node:readline';
import { TRUST_TRIAL_PORT } from '@hopwise/contract';
import { LocalLeafIssuer } from '../../../native-host/dist/src/ca/leaf-issuer.js';
import { Engine } from '../../../native-host/dist/src/engine/engine.js';
import { LoopbackProxy } from '../../../native-host/dist/src/pins/proxy/loopback-proxy.js';
import { TerminatingProxy } from '../../../native-host/dist/src/pins/terminating/terminating-proxy.js';

const log = (line) => void process.stderr.write(`${line}\n`);
const print = (value) => void process.stdout.write(`${JSON.stringify(value)}\n`);
const engine = new Engine();
let onReady = () => {};
const ready = new Promise((resolve) => {
  onReady = resolve;
});
const terminating = new TerminatingProxy({
  engine,
  issuer: new LocalLeafIssuer({ log, folder: process.env.HOPWISE_BENCH_CA }),
  log,
  onLifted: () => process.exit(1),
  onAddressRefused: () => process.exit(1),
  onReady,
  onDoubt: () => {},
  onFallback: () => {},
  onMeasured: () => {},
});
const proxy = new LoopbackProxy({
  log,
  route: (host, port) =>
    port === TRUST_TRIAL_PORT ? terminating.routeTrial(host) : terminating.routeConnect(host, port),
});
await engine.start();
print({ port: await proxy.listen(), pids: [process.pid, await engine.pid()] });
for await (const line of createInterface(process.stdin)) {
  const [, protocol, host, port] = /^(h1|h2|h3) (.+):(\d+)$/.exec(line) ?? [];
  if (protocol) terminating.pin(host, Number(port), protocol, 'loopback');
  else await ready;
  print({ trialToken: terminating.trialToken });
}
terminating.close();
await proxy.close();
await engine.close();
