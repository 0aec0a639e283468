/** The agent with programs in place of `ss` and `ip` that are ended by the signal that stops the agent, as a service manager sends it to all. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Agent, type AgentOptions } from '../../src/agent/agent.ts';
import { LogTail } from '../../src/log/log-tail.ts';
import { ProgramKilled } from '../../src/util/run-program.ts';

let folder: string;
let tail: LogTail;
const at = (name: string) => join(folder, name);
const readLines = (name: string) => readFileSync(at(name), 'utf8').trim().split('\n').filter(Boolean);

function writeProgram(name: string, ...lines: string[]): void {
  writeFileSync(at(`bin/${name}`), ['#!/bin/sh', ...lines, ''].join('\n'), { mode: 0o755 });
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hopwise-agent-'));
  mkdirSync(at('bin'));
  mkdirSync(at('state'));
  for (const file of ['access.log', 'ss.pids', 'ip.calls']) writeFileSync(at(file), '');
  vi.stubEnv('PATH', `${at('bin')}:${process.env.PATH}`);
  // Neither the watch nor a look at the open connections ends by itself.
  writeProgram('ss', `echo $$ >> ${at('ss.pids')}`, 'exec sleep 1000');
  writeProgram('ip', `echo "$@" >> ${at('ip.calls')}`);
  tail = await LogTail.open(at('access.log'));
});

afterEach(async () => {
  await tail.close();
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

function start(signal: AbortSignal): Promise<void> {
  const options: AgentOptions = {
    state: at('state'),
    serverPorts: [80],
    windows: [10, 40],
    objective: 'p80',
    table: 199,
    maxRoutes: 10,
    minConnections: 5,
    interval: 50,
    apply: true,
  };
  return new Agent(options, randomBytes(32), () => {}).run(tail, signal);
}

const endPrograms = () => {
  for (const pid of readLines('ss.pids')) process.kill(Number(pid), 'SIGTERM');
};

test('the agent ends in order, and takes its routes back', async () => {
  const stop = new AbortController();
  const ended = start(stop.signal);
  await vi.waitFor(() => expect(readLines('ss.pids')).toHaveLength(2), { timeout: 60_000 });
  const before = readLines('ip.calls').length;
  // Also the first program that takes routes back.
  writeProgram(
    'ip',
    `echo "$@" >> ${at('ip.calls')}`,
    `[ -e ${at('hit')} ] || { touch ${at('hit')}; kill -TERM $$; }`,
  );
  stop.abort();
  endPrograms();
  await ended;
  const [killed, ...rest] = readLines('ip.calls').slice(before);
  expect(rest).toEqual([
    killed,
    '-4 -N -o route show table all',
    '-6 -N rule show',
    '-6 -N -o route show table all',
  ]);
});

test('where nothing stops it, a program that is ended is a failure', async () => {
  const ended = start(new AbortController().signal);
  const failed = expect(ended).rejects.toThrow(ProgramKilled);
  await vi.waitFor(() => expect(readLines('ss.pids')).toHaveLength(2), { timeout: 60_000 });
  endPrograms();
  await failed;
});
