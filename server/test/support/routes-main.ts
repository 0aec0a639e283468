/** Sets routes on a link that goes down and up, in a network namespace of its own, and prints what the kernel has after each step as JSON. */
import { execFileSync } from 'node:child_process';
import { RouteManager } from '../../src/routes/route-manager.ts';

const TABLE = '199';
const WANTED = [
  { prefix: '10.1.1.0/24', window: 40 },
  { prefix: '2001:db8:1::/48', window: 20 },
];
const ip = (...words: string[]): string => execFileSync('ip', words, { encoding: 'utf8' });

function setLink(state: 'up' | 'down'): void {
  ip('link', 'set', 'lo', state);
  if (state === 'down') return;
  for (const family of ['-4', '-6']) ip(family, 'route', 'replace', 'default', 'dev', 'lo');
}

const said: string[] = [];
const routes = new RouteManager(Number(TABLE), false, (line) => said.push(line));
const steps: Record<string, object> = {};
async function step(name: string, wanted = WANTED): Promise<void> {
  const returned = [...(await routes.apply(wanted))];
  const lines = ['-4', '-6'].flatMap((family) =>
    ip(family, '-o', 'route', 'show', 'table', 'all').split('\n'),
  );
  const kernel = lines.filter((line) => line.includes(` table ${TABLE} `)).map((line) => line.split(' ')[0]);
  steps[name] = { returned, kernel, said: said.splice(0).length };
}

setLink('up');
await routes.begin();
await step('first');
setLink('down');
await step('down');
setLink('up');
await step('up');
setLink('down');
setLink('up');
await step('down and up between two looks');
// The kernel refuses a prefix with bits behind its length.
const refused = [...WANTED, { prefix: '10.2.1.1/24', window: 10 }];
await step('a change that fails', refused);
await step('and fails again', refused);
await step('and then not', WANTED);
await routes.end();
await step('after the end', []);
console.log(JSON.stringify(steps));
