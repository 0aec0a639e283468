/**
 * What a terminated request costs on loopback, from a browser that speaks HTTP/2: the time a small warm one takes more than direct, the
 * throughput of a large one, and memory with 1,000 in flight; beside mitmproxy where it is installed, in rounds that take turns. The
 * origin, the proxies and their engine are in processes of their own. `npm run bench -- terminating`.
 */
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { connect as connectTcp } from 'node:net';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { median, PROTOCOLS, type Protocol } from '@hopwise/contract';
import { integer } from '@hopwise/lab/command/option-types';
import { HEAP_ARGUMENTS, MALLOC_SETTINGS } from '../../../native-host/dist/src/base/memory-settings.js';
import { createAuthority } from '../../../native-host/dist/src/ca/authority.js';
import { writeAuthority } from '../../../native-host/dist/src/ca/authority-store.js';
import { Companion } from '../../../native-host/test/pins/proxy/support/companion.ts';
import { openTunnel } from '../../../native-host/test/pins/proxy/support/peers.ts';
import { showTrust } from '../../../native-host/test/pins/terminating/support/show-trust.ts';
import { ServerProgram } from '../../../native-host/test/support/server.ts';
import { benchCommand, parseOrExit } from '../bench-command.ts';
import { Mitmproxy } from './mitmproxy.ts';
import { MostResident, type Resident, resident } from './resident.ts';
import { medianTime, printTimes, rounds, spread, verdict } from './rounds.ts';

/** HTTP/1.1 has six connections to an origin: what is more waits. */
const SHARED = ['h2', 'h3'] as const;
const SMALL_BYTES = 1_000;
const REQUESTS_A_ROUND = 60;
/** Until then the processes compile what they run; a browser is past it after some pages. */
const WARM_UP_REQUESTS = 1_000;
const TRANSFER_ROUNDS = 3;
const IN_FLIGHT = 1_000;
/** They carry as many in flight: Chromium's streams of a connection are 100. */
const CONNECTIONS = 10;
const command = benchCommand(
  'terminating',
  'Measures latency, throughput and memory of requests pinned to a protocol beside direct ones and mitmproxy, on loopback.',
)
  .option('--mib <n>', 'size of the large responses', integer(1, 65_536), 256)
  .option('--rounds <n>', 'of latencies', integer(1, 1_000), 12);
const { mib, rounds: latencyRounds } = parseOrExit(command).opts<{ mib: number; rounds: number }>();
const TRANSFER_BYTES = mib * 1024 * 1024;

const TARGET = { addedMs: 0.8, gbps: { h1: 1, h2: 0, h3: 0.4 }, residentMib: 150 };

interface Way {
  name: string;
  session: ClientHttp2Session;
}

const folder = mkdtempSync(join(tmpdir(), 'hopwise-bench-'));
process.env.HOPWISE_BENCH_CA = join(folder, 'ca');
const authority = createAuthority(['localhost']);
await writeAuthority(authority, process.env.HOPWISE_BENCH_CA);
const program = new ServerProgram();
const server = await program.start();
process.env.HOPWISE_CA_FILE = server.caFile;
const mitmproxy = await Mitmproxy.start(server.caFile);
const roots = [authority.root, readFileSync(server.caFile, 'utf8'), ...(mitmproxy ? [mitmproxy.root] : [])];

try {
  if (!mitmproxy)
    console.log(
      'mitmproxy is not installed (pipx install mitmproxy==11.0.2): beside a direct connection only',
    );
  const ways: Way[] = [{ name: 'direct', session: await open(null) }];
  if (mitmproxy) ways.push({ name: 'mitmproxy', session: await open(mitmproxy.port) });
  for (const protocol of PROTOCOLS) {
    const terminating = await pinnedTo(protocol);
    const pinned: Way = { name: protocol, session: await open(terminating.port) };
    const all = [...ways, pinned];
    console.log(`\npinned to ${protocol}`);
    await latency(all, protocol);
    await throughput(all, protocol, terminating.pids);
    pinned.session.destroy();
    await terminating.stop();
  }
  for (const { session } of ways) session.destroy();
  console.log(`\n${IN_FLIGHT} requests in flight on ${CONNECTIONS} connections, MiB resident at most`);
  for (const protocol of SHARED) await memory(protocol);
  console.log(`\n${availableParallelism()} processors, load ${loadavg()[0]!.toFixed(1)} in the last minute`);
} finally {
  await Promise.all([mitmproxy?.stop(), server.stop()]);
  program.remove();
  rmSync(folder, { recursive: true });
}

async function latency(all: readonly Way[], protocol: string): Promise<void> {
  for (const { session } of all) {
    for (let request = 0; request < WARM_UP_REQUESTS; request++) await transfer(session, SMALL_BYTES);
  }
  const figures = await rounds(all, latencyRounds, ({ session }) =>
    medianTime(REQUESTS_A_ROUND, () => transfer(session, SMALL_BYTES)),
  );
  console.log(
    `  a warm request for ${SMALL_BYTES} bytes, ms: median of the rounds' medians (10th to 90th percentile), and what is more than direct`,
  );
  const added = printTimes(figures).get(protocol)!;
  verdict(added <= TARGET.addedMs, `${TARGET.addedMs} ms more than direct`);
}

async function throughput(all: readonly Way[], protocol: Protocol, pids: readonly number[]): Promise<void> {
  const look = new MostResident(pids);
  const figures = await rounds(all, Math.min(TRANSFER_ROUNDS, latencyRounds), async ({ session }) => {
    const startMs = performance.now();
    await transfer(session, TRANSFER_BYTES);
    return (TRANSFER_BYTES * 8) / 1e6 / (performance.now() - startMs);
  });
  const most = look.end();
  console.log(`  a response of ${mib} MiB, Gbit/s: median (10th to 90th percentile)`);
  for (const [name, each] of figures) {
    console.log(`    ${name.padEnd(12)}${spread(each, 2)}`);
    const target = TARGET.gbps[protocol];
    if (name === protocol && target > 0) verdict(median(each) >= target, `${target} Gbit/s`);
  }
  console.log(`    MiB resident at most: ${inWords(most)}`);
}

/** What a fresh proxy and its engine hold while responses trickle in. */
async function memory(protocol: Protocol): Promise<void> {
  const terminating = await pinnedTo(protocol);
  const sessions = await Promise.all(Array.from({ length: CONNECTIONS }, () => open(terminating.port)));
  const idle = resident(terminating.pids);
  const look = new MostResident(terminating.pids);
  await Promise.all(
    Array.from({ length: IN_FLIGHT }, (_, index) =>
      transfer(sessions[index % sessions.length]!, 5_000, 'trickle'),
    ),
  );
  const most = look.end();
  for (const session of sessions) session.destroy();
  await terminating.stop();
  console.log(`    ${protocol.padEnd(12)}${inWords(most)}\n    ${'before'.padEnd(12)}${inWords(idle)}`);
  verdict(most.together <= TARGET.residentMib, `${TARGET.residentMib} MiB`);
}

function inWords({ each: [host, engine], together }: Resident): string {
  return `host ${host!.toFixed(0)}, engine ${engine!.toFixed(0)}, together ${together.toFixed(0)} with the files that both have mapped counted once`;
}

/** A terminating proxy of its own process, which nothing has been asked of. */
async function pinnedTo(protocol: string): Promise<Companion> {
  const terminating = await Companion.start(
    '../../../../../bench/src/pins/terminating-process.mjs',
    HEAP_ARGUMENTS,
    MALLOC_SETTINGS,
  );
  const { trialToken } = await terminating.ask<{ trialToken: string }>(
    `${protocol} localhost:${server.port}`,
  );
  await showTrust(terminating.port, 'localhost', trialToken, authority.root);
  await terminating.ask();
  return terminating;
}

/** @param via the port of a proxy; null for none. */
async function open(via: number | null): Promise<ClientHttp2Session> {
  const target = `localhost:${server.port}`;
  const tunnel =
    via === null
      ? connectTcp({ port: server.port, host: '127.0.0.1', noDelay: true })
      : await openTunnel(via, target);
  const socket = connectTls({ socket: tunnel, servername: 'localhost', ca: roots, ALPNProtocols: ['h2'] });
  await once(socket, 'secureConnect');
  const session = connectHttp2(`https://${target}`, {
    createConnection: () => socket,
    settings: { initialWindowSize: 6 * 1024 * 1024 },
  });
  await once(session, 'remoteSettings');
  // Chromium's windows.
  session.setLocalWindowSize(15 * 1024 * 1024);
  return session;
}

function transfer(session: ClientHttp2Session, bytes: number, kind = 'bytes'): Promise<void> {
  return new Promise((resolve, reject) => {
    let left = bytes;
    session
      .request({ ':path': `/${kind}/${bytes}` })
      .on('data', (chunk: Buffer) => {
        left -= chunk.length;
      })
      .on('error', reject)
      .on('end', () => (left === 0 ? resolve() : reject(new Error(`${left} bytes of ${bytes} are missing`))));
  });
}
