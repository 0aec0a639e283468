/**
 * The engine's own process: loads libcurl, runs rounds and exchanges. Rounds use Node's IPC channel, exchanges a
 * pipe beside it. A crash of the native library ends this process and nothing else.
 */
import { Socket } from 'node:net';
import { type Libcurl, loadLibcurl } from '../curl/libcurl.ts';
import { tcpInfoReader } from '../curl/tcp-info.ts';
import { ExchangeServer } from '../exchange/exchange-server.ts';
import { markWriter } from '../exchange/sent-marks.ts';
import { Round } from '../rounds/round.ts';
import {
  type ChildMessage,
  type EngineInfo,
  EXCHANGE_PIPE,
  type HostMessage,
  SENT_MARKS_FILE,
} from './ipc.ts';
import { observeProcess } from './process-activity.ts';
import { StuckWatch } from './stuck-watch.ts';

const [libcurlPath = '', caFile = '', hungAfterMs = '', stuckAfterMs = '', dohUrl = ''] =
  process.argv.slice(2);

function send(message: ChildMessage): void {
  process.send?.(message);
}

function load(): Libcurl | null {
  try {
    const curl = loadLibcurl(libcurlPath);
    curl.initialise();
    const info: EngineInfo = { ...curl.version, path: libcurlPath, caFile: caFile || curl.version.caFile };
    send({ type: 'ready', info });
    return curl;
  } catch (fault) {
    process.send?.({ type: 'unusable', problem: (fault as Error).message }, () => process.disconnect());
    return null;
  }
}

// The host has ended: the results have no reader.
process.on('disconnect', () => process.exit(0));
// A terminal's Ctrl-C reaches the whole group; the host decides when this ends.
process.on('SIGINT', () => {});

/** After a fault inside the native binding its state is unknown: end, and let the host start a new engine. */
function fail(fault: Error): void {
  send({ type: 'fault', problem: fault.message });
  setImmediate(() => process.exit(1));
}

const names = { caFile, dohUrl };
const readTcpInfo = tcpInfoReader();
const curl = load();
if (curl) {
  new ExchangeServer({
    curl,
    names,
    hungAfterMs: Number(hungAfterMs),
    pipe: new Socket({ fd: EXCHANGE_PIPE }),
    markSent: markWriter(SENT_MARKS_FILE),
    readTcpInfo,
    onFault: fail,
  });
}
const rounds = new Map<number, Round>();

let hostWatch: StuckWatch | null = null;

/** Ends the host once it no longer responds. Its end closes the IPC channel, which ends this process. */
function guardHost(): StuckWatch {
  const host = process.ppid;
  return new StuckWatch({
    limitMs: Number(stuckAfterMs),
    isBusy: () => true,
    ask: () => {},
    observe: observeProcess(host),
    onStuck: () => {
      if (process.ppid === host) process.kill(host, 'SIGKILL');
    },
  });
}

process.on('message', (message: HostMessage) => {
  if (!curl) return;
  hostWatch?.noteAnswer();
  if (message.type === 'guard') {
    hostWatch ??= guardHost();
    return;
  }
  if (message.type === 'alive') {
    send(message);
    return;
  }
  if (message.type === 'cancel') {
    rounds.get(message.id)?.cancel();
    return;
  }
  const { id } = message;
  const round = new Round(
    message.request,
    { curl, names, readTcpInfo, onResult: (result) => send({ type: 'result', id, result }), onFault: fail },
    (report) => {
      rounds.delete(id);
      send({ type: 'report', id, report });
    },
  );
  rounds.set(id, round);
  try {
    round.start();
  } catch (fault) {
    fail(fault as Error);
  }
});
