/** How fast the server's agent reads an access log, and the memory that it takes. */
import { spawnSync } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { integer } from '@hopwise/lab/command/option-types';
import { runProgram } from '@hopwise/lab/command/program';
import { makeScratch, removeScratch } from '@hopwise/lab/command/scratch';
import { benchCommand, parseOrExit } from '../bench-command.ts';

const TARGET = { linesPerSecond: 50_000, megabytes: 150 };
const READER = fileURLToPath(new URL('read-log-main.ts', import.meta.url));
const LAUNCHER = new URL('../../../server/bin/hopwise-server.mjs', import.meta.url);

const { lines } = parseOrExit(
  benchCommand(
    'access-log',
    'Reads an access log of clients in many prefixes, one line in a thousand of which is broken.',
  ).option('--lines <n>', 'lines of the log', integer(1000, 100_000_000), 10_000_000),
).opts<{ lines: number }>();

await runProgram(async ({ cleanup }) => {
  const folder = await makeScratch('run');
  cleanup.add('the log', () => removeScratch(folder));
  const log = join(folder, 'access.log');
  writeLog(log);
  // With the limits of the command itself, which its first line has.
  const limits = readFileSync(LAUNCHER, 'utf8').split('\n', 1)[0]!.match(/--\S+/g) ?? [];
  const { stdout, stderr } = spawnSync(process.execPath, [...limits, READER, log], { encoding: 'utf8' });
  if (stdout === '') throw new Error(stderr);
  const { seconds, megabytes }: { seconds: number; megabytes: number } = JSON.parse(stdout);
  const perSecond = lines / seconds;
  console.log(
    `${lines} lines in ${seconds.toFixed(1)} s of the processor: ${Math.round(perSecond)} a second (target ${TARGET.linesPerSecond}); at most ${Math.round(megabytes)} MB (target ${TARGET.megabytes})`,
  );
  if (perSecond < TARGET.linesPerSecond || megabytes > TARGET.megabytes) process.exitCode = 1;
});

/** Writes the log by another process, as fast as that goes. */
function writeLog(path: string): void {
  const line = String.raw`{\"msec\":\"%d.%03d\",\"remote_addr\":\"%d.%d.%d.%d\",\"remote_port\":\"%d\",\"connection_time\":\"0.048\",\"bytes_sent\":\"46336\"}\n`;
  const program = `BEGIN { for (i = 0; i < ${lines}; i++)
    if (i % 1000 == 0) print "{\\"msec\\":\\"";
    else printf "${line}", 1795735141 + i / 1000, i % 1000, 11 + i % 90, int(i / 8) % 256, int(i / 2048) % 256, i % 256, 1024 + i % 60000 }`;
  const file = openSync(path, 'w');
  const { status } = spawnSync('awk', [program], { stdio: ['ignore', file, 'inherit'] });
  closeSync(file);
  if (status !== 0) throw new Error('awk could not write the log');
}
