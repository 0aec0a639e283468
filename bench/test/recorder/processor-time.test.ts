import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import {
  listProcesses,
  readProcessorTimes,
  subtractTimes,
  sumKinds,
} from '../../src/recorder/processor-time.ts';

const BUSY = 'let i = 0; while (process.cpuUsage().user < 200_000) i++;';
/** Starts a process that works and ends, says so, and waits for the end of its input. */
const PARENT = `require('child_process').spawnSync(process.execPath, ['-e', ${JSON.stringify(BUSY)}]); console.log('done'); process.stdin.resume();`;

test('the time of a process that the first one started and that has ended is the helper’s', async () => {
  const parent = spawn(process.execPath, ['-e', PARENT], { stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    await once(parent.stdout, 'data');
    expect(listProcesses(parent.pid!)).toMatchObject([{ pid: parent.pid, kind: 'browser' }]);
    const times = readProcessorTimes(parent.pid!);
    expect(times).toMatchObject({ pages: 0, extension: 0 });
    expect(times.helper).toBeGreaterThanOrEqual(190);
  } finally {
    const ended = once(parent, 'exit');
    parent.stdin.end();
    await ended;
  }
});

/** Starts processes of these names, which wait for the end of their input. */
const NAMED = `
  const children = process.argv.slice(1).map((name) =>
    require('child_process').spawn('sh', ['-c', 'printf %s "$0" > /proc/$$/comm; echo; read end', name], { stdio: ['pipe', 'pipe', 'inherit'] }));
  Promise.all(children.map((child) => new Promise((resolve) => child.stdout.once('data', resolve)))).then(() => console.log('done'));
  process.stdin.on('end', () => children.forEach((child) => child.stdin.end())).resume();`;

test('Firefox names its processes', async () => {
  const names = ['WebExtensions', 'Isolated Web Co', 'Web Content', 'node'];
  const parent = spawn(process.execPath, ['-e', NAMED, ...names], { stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    await once(parent.stdout, 'data');
    const kinds = listProcesses(parent.pid!)
      .filter(({ pid }) => pid !== parent.pid)
      .sort((a, b) => a.pid - b.pid)
      .map(({ kind }) => kind);
    expect(kinds).toEqual(['extension', 'pages', 'pages', 'helper']);
  } finally {
    const ended = once(parent, 'exit');
    parent.stdin.end();
    await ended;
  }
});

test('times are summed and subtracted by kind', () => {
  const before = { browser: 1, pages: 2, extension: 3, helper: 4 };
  const after = { browser: 11, pages: 22, extension: 33, helper: 44 };
  expect(sumKinds(subtractTimes(after, before))).toBe(100);
  expect(subtractTimes(after, before)).toEqual({ browser: 10, pages: 20, extension: 30, helper: 40 });
});
