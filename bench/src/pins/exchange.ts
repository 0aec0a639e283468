/**
 * What exchanges through the engine cost on loopback: throughput in both directions, and the time a small warm
 * request takes beside the same request by libcurl in this process. `npm run bench -- exchange`, after a build.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, isAbsolute } from 'node:path';
import { Readable } from 'node:stream';
import { median, PROTOCOLS, quantile } from '@hopwise/contract';
import { integer } from '@hopwise/lab/command/option-types';
import { ConnectionWatch } from '../../../native-host/dist/src/curl/connection-watch.js';
import { loadLibcurl } from '../../../native-host/dist/src/curl/libcurl.js';
import { Engine } from '../../../native-host/dist/src/engine/engine.js';
import type { Exchange, ExchangeRequest } from '../../../native-host/dist/src/exchange/exchange.js';
import { RoundTransfers } from '../../../native-host/dist/src/rounds/round-transfers.js';
import { ServerProgram } from '../../../native-host/test/support/server.ts';
import { benchCommand, parseOrExit } from '../bench-command.ts';

type Protocol = ExchangeRequest['protocol'];

// Requests of each kind take turns, so that other work on the machine meets all alike.
const command = benchCommand(
  'exchange',
  'Measures throughput and latency of exchanges through the engine beside libcurl alone, on loopback.',
)
  .option('--requests <n>', 'small requests of each kind', integer(1, 1_000_000), 400)
  .option('--megabytes <n>', 'size of a large response', integer(1, 100_000), 256)
  .option('--runs <n>', 'large transfers, of which the best counts', integer(1, 1_000), 3);
const options = parseOrExit(command).opts<{ requests: number; megabytes: number; runs: number }>();
const REQUESTS = options.requests;
const BYTES = options.megabytes * 1e6;
const RUNS = options.runs;
const SMALL_BYTES = 1000;
const WARM_UP = 50;

const engine = new Engine();
const info = await engine.start();
const folder = isAbsolute(info.path) ? dirname(info.path) : '';
if (folder && process.env.LD_LIBRARY_PATH !== folder) {
  // The loader reads it as a process starts: what a private libcurl needs lies beside it.
  await engine.close();
  const env = { ...process.env, LD_LIBRARY_PATH: folder };
  process.exit(spawnSync(process.execPath, process.argv.slice(1), { env, stdio: 'inherit' }).status ?? 1);
}
await engine.close();
const program = new ServerProgram();
const server = await program.start();
process.env.HOPWISE_CA_FILE = server.caFile;
const measured = new Engine();
const { caFile } = await measured.start();
const curl = loadLibcurl(info.path);
curl.initialise();

try {
  console.log('throughput, Gbit/s and processor seconds a GB (host, engine): best run');
  for (const protocol of PROTOCOLS) {
    const down = await best(() => download(protocol));
    const up = await best(() => upload(protocol));
    console.log(`  ${protocol}  down ${down}   up ${up}`);
  }
  console.log('small warm request, ms: median (90%)');
  for (const protocol of PROTOCOLS) console.log(`  ${protocol}  ${await small(protocol)}`);
} finally {
  await measured.close();
  await server.stop();
  program.remove();
}

function ask(protocol: Protocol, path: string, more: Partial<ExchangeRequest> = {}): Exchange {
  return measured.exchange({
    protocol,
    from: 'loopback',
    method: 'GET',
    url: server.url(path, '127.0.0.1'),
    headers: [],
    body: null,
    ...more,
  });
}

async function drained(exchange: Exchange): Promise<number> {
  let bytes = 0;
  exchange.body.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  await exchange.trailers;
  return bytes;
}

async function download(protocol: Protocol): Promise<void> {
  const bytes = await drained(ask(protocol, `/bytes/${BYTES}`));
  if (bytes !== BYTES) throw new Error(`${bytes} bytes of ${BYTES} came`);
}

async function upload(protocol: Protocol): Promise<void> {
  const piece = Buffer.alloc(64_000);
  let left = BYTES;
  const body = new Readable({
    read() {
      while (left > 0) {
        const part = piece.subarray(0, Math.min(left, piece.length));
        left -= part.length;
        if (!this.push(part)) return;
      }
      this.push(null);
    },
  });
  await drained(ask(protocol, '/sink', { method: 'POST', headers: [['content-length', `${BYTES}`]], body }));
}

async function best(run: () => Promise<void>): Promise<string> {
  await run();
  const pid = (await measured.pid())!;
  let line = '';
  let least = Number.POSITIVE_INFINITY;
  for (let times = 0; times < RUNS; times += 1) {
    const host = process.cpuUsage();
    const child = processorSeconds(pid);
    const begin = performance.now();
    await run();
    const ms = performance.now() - begin;
    if (ms >= least) continue;
    least = ms;
    const { user, system } = process.cpuUsage(host);
    const gigabytes = BYTES / 1e9;
    line = [
      ((BYTES * 8) / ms / 1e6).toFixed(2),
      `(${((user + system) / 1e6 / gigabytes).toFixed(1)}, ${((processorSeconds(pid) - child) / gigabytes).toFixed(1)})`,
    ].join(' ');
  }
  return line;
}

/** Reads a process's time by proc(5): fields 14 and 15 of its stat, in hundredths of a second. */
function processorSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

async function small(protocol: Protocol): Promise<string> {
  const watch = new ConnectionWatch(() => null);
  const receive = (): boolean => true;
  const onFault = (fault: Error): void => {
    throw fault;
  };
  const inProcess = new RoundTransfers(
    protocol,
    { curl, names: { caFile, dohUrl: '' }, receive, onH3Offer: () => {}, onFault },
    watch,
  );
  const path = `/bytes/${SMALL_BYTES}`;
  const alone = (): Promise<void> =>
    new Promise((resolve) => {
      inProcess.add(
        {
          url: server.url(path, '127.0.0.1'),
          host: `127.0.0.1:${server.port}`,
          headers: [],
          userAgent: '',
          urgency: 3,
          connectTo: '',
          headersOnly: false,
          maxBytes: 1e9,
          connectTimeoutMs: 5000,
          totalTimeoutMs: 60_000,
          stallSeconds: 60,
          pageFrom: 'loopback',
        },
        () => resolve(),
      );
    });
  const through = async (): Promise<void> => {
    await drained(ask(protocol, path));
  };
  const times = { alone: [] as number[], through: [] as number[] };
  for (let request = 0; request < WARM_UP + REQUESTS; request += 1) {
    for (const [way, run] of [
      ['alone', alone],
      ['through', through],
    ] as const) {
      const begin = performance.now();
      await run();
      if (request >= WARM_UP) times[way].push(performance.now() - begin);
    }
  }
  inProcess.close();
  const added = median(times.through) - median(times.alone);
  const show = (of: number[]): string => `${median(of).toFixed(3)} (${quantile(of, 0.9).toFixed(3)})`;
  return `in this process ${show(times.alone)}, through the engine ${show(times.through)}, added ${added.toFixed(3)}`;
}
