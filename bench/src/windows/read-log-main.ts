/** Reads an access log as the server's agent does, and prints how long that took and the memory of the process as JSON. */
import { dirname, join } from 'node:path';
import { Agent } from '@hopwise/server/agent/agent';
import { DEFAULT_WINDOWS } from '@hopwise/server/learn/window-controller';
import { LogTail } from '@hopwise/server/log/log-tail';

const log = process.argv[2]!;
const agent = new Agent(
  {
    state: join(dirname(log), 'state'),
    serverPorts: [80],
    windows: DEFAULT_WINDOWS,
    objective: 'p80',
    table: 199,
    maxRoutes: 500,
    minConnections: 20,
    interval: 500,
  },
  Buffer.alloc(32),
  () => undefined,
);
const tail = await LogTail.open(log, 'start');
const before = process.cpuUsage();
await tail.readNew((line) => agent.noteLine(line));
// Processor time: others may use the processor meanwhile.
const { user, system } = process.cpuUsage(before);
await tail.close();
// Kilobytes (getrusage(2)).
const { maxRSS } = process.resourceUsage();
console.log(JSON.stringify({ seconds: (user + system) / 1e6, megabytes: maxRSS / 1000 }));
