/**
 * The engine's own process: loads libcurl and runs rounds. It speaks over Node's IPC channel only;
 * a crash of the native library ends it and nothing else.
 */
import type { ChildMessage, EngineInfo, HostMessage } from './ipc.ts';
import { type Libcurl, loadLibcurl } from './libcurl.ts';
import { Round } from './round.ts';
import { tcpInfoReader } from './tcp-info.ts';

const [libcurlPath = '', caFile = ''] = process.argv.slice(2);

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

// The host is gone: nobody reads the results.
process.on('disconnect', () => process.exit(0));
// A terminal's Ctrl-C reaches the whole group; the host decides when this ends.
process.on('SIGINT', () => {});

const curl = load();
const rounds = new Map<number, Round>();
const readTcpInfo = tcpInfoReader();

process.on('message', (message: HostMessage) => {
  if (!curl) return;
  if (message.type === 'cancel') {
    rounds.get(message.id)?.cancel();
    return;
  }
  const { id } = message;
  const fail = (fault: Error): void => {
    // A fault inside the native binding leaves unknown state behind: end, the host starts a new engine.
    send({ type: 'fault', id, problem: fault.message });
    setImmediate(() => process.exit(1));
  };
  const round = new Round(
    message.request,
    { curl, caFile, readTcpInfo, onResult: (result) => send({ type: 'result', id, result }), onFault: fail },
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
