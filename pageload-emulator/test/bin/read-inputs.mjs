// Reads each named file, builds its page graph, and prints the outcome with the processor time and memory used.
import { readFileSync } from 'node:fs';
import { readInput } from '../../bin/dist/read-input.js';
import { buildGraph, estimateNetwork, InputError } from '../../dist/index.js';

for (const file of process.argv.slice(2)) {
  const before = process.cpuUsage();
  let requests = null;
  let refusal = null;
  try {
    const { recording } = await readInput(file);
    requests = recording.requests.length;
    buildGraph(recording);
    estimateNetwork(recording);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    refusal = error.message;
  }
  const { user, system } = process.cpuUsage(before);
  const cpuSeconds = (user + system) / 1e6;
  // Not `resourceUsage().maxRSS`: on Linux it counts the memory of the process that started this one as well.
  const residentMb = Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))[1]) / 1024;
  process.stdout.write(`${JSON.stringify({ file, requests, refusal, cpuSeconds, residentMb })}\n`);
}
