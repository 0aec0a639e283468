/**
 * What a tunnel adds to a request, and to the first request of a connection, also where the machine has many others, and what it carries:
 * beside a direct connection and Debian's tinyproxy, in rounds that take turns. Origin and proxies are in processes of their own. `npm run bench -- tunnel`.
 */
import { readFileSync } from 'node:fs';
import { median } from '@hopwise/contract';
import { integer } from '@hopwise/lab/command/option-types';
import { Companion } from '../../../native-host/test/pins/proxy/support/companion.ts';
import { benchCommand, parseOrExit } from '../bench-command.ts';
import { Client, type Way } from './client.ts';
import { medianTime, printTimes, rounds, spread, verdict } from './rounds.ts';
import { Tinyproxy } from './tinyproxy.ts';

/** Small, and longer than what tinyproxy passes on without a wait. */
const RESPONSES_BYTES = [1_000, 8_000];
const TRANSFER_BYTES = 512 * 1024 * 1024;
const REQUESTS_A_ROUND = 150;
const CONNECTIONS_A_ROUND = 20;
/** Those to find the tunnel's client among, beside its own; a busy desktop has hundreds. */
const OTHER_CONNECTIONS = [0, 1_000, 5_000];
/** tinyproxy leaves Nagle's algorithm on: some of its answers wait 40 ms for an acknowledgement. */
const ROUND_LIMIT_MS = 150;
/** Fewer than of latencies: each takes seconds. */
const TRANSFER_ROUNDS = 7;

const TARGET = { addedMs: 0.15, gbps: 3, shareOfDirect: 0.8 };

const command = benchCommand(
  'tunnel',
  "Measures latency and throughput of a pin's tunnel beside a direct connection and tinyproxy, on loopback.",
).option('--rounds <n>', 'of latencies', integer(1, 1_000), 15);
const { rounds: latencyRounds } = parseOrExit(command).opts<{ rounds: number }>();

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));

const origin = await Companion.start('./origin-process.ts');
const tunnel = await Companion.start('./proxy-process.ts');
const tinyproxy = await Tinyproxy.start();
const ways: Way[] = [
  { name: 'direct', via: null, origin: origin.port },
  { name: 'tunnel', via: tunnel.port, origin: origin.port },
];
if (tinyproxy) ways.push({ name: 'tinyproxy', via: tinyproxy.port, origin: origin.port });
else
  console.log(
    'tinyproxy is not installed (apt install tinyproxy-bin): compared with a direct connection only\n',
  );

try {
  const clients = new Map<string, Client>();
  for (const way of ways) clients.set(way.name, await Client.open(way));

  for (const bytes of RESPONSES_BYTES) {
    const requests = await rounds(ways, latencyRounds, async ({ name }) => {
      const client = clients.get(name)!;
      return medianTime(REQUESTS_A_ROUND, () => client.exchange(bytes), ROUND_LIMIT_MS);
    });
    printTitle(`A request for ${bytes} bytes on an open connection`);
    const added = printTimes(requests).get('tunnel')!;
    verdict(added <= TARGET.addedMs, `${TARGET.addedMs} ms more than direct`);
  }

  const others: Client[] = [];
  for (const count of OTHER_CONNECTIONS) {
    while (others.length < count) others.push(await Client.open(ways[0]!));
    const connections = await rounds(ways, latencyRounds, (way) => {
      const connectAndAsk = async (): Promise<void> => {
        const client = await Client.open(way);
        await client.exchange(RESPONSES_BYTES[0]!);
        client.close();
      };
      return medianTime(CONNECTIONS_A_ROUND, connectAndAsk, ROUND_LIMIT_MS);
    });
    const sockets = readFileSync('/proc/net/tcp', 'latin1').split('\n').length - 2;
    printTitle(`A request for ${RESPONSES_BYTES[0]} bytes and its connection, of ${sockets} sockets here`);
    printTimes(connections);
  }
  for (const client of others) client.close();

  const rates = await rounds(ways, Math.min(TRANSFER_ROUNDS, latencyRounds), async ({ name }) => {
    const startMs = performance.now();
    await clients.get(name)!.exchange(TRANSFER_BYTES);
    return (TRANSFER_BYTES * 8) / 1e6 / (performance.now() - startMs);
  });
  console.log(
    `\nA response of ${TRANSFER_BYTES / 1024 / 1024} MiB, Gbit/s: median (10th to 90th percentile)`,
  );
  for (const [name, each] of rates) {
    const shares = each.map((rate, round) => rate / rates.get('direct')![round]!);
    console.log(`    ${name.padEnd(12)}${spread(each, 1)}, ${(100 * median(shares)).toFixed(0)}% of direct`);
  }
  const gbps = median(rates.get('tunnel')!);
  verdict(
    gbps >= TARGET.gbps || gbps >= TARGET.shareOfDirect * median(rates.get('direct')!),
    `${TARGET.gbps} Gbit/s or ${100 * TARGET.shareOfDirect}% of direct`,
  );
  for (const client of clients.values()) client.close();
} finally {
  await Promise.all([origin.stop(), tunnel.stop(), tinyproxy?.stop()]);
}

function printTitle(title: string): void {
  console.log(
    `\n${title}, ms: median of the rounds' medians (10th to 90th percentile), and what is more than direct`,
  );
}
