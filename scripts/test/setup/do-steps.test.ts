import { expect, test } from 'vitest';
import { SetupError } from '../../setup/programs.mjs';
import { doSteps } from '../../setup/setup.mjs';

interface FakeStep {
  name: string;
  what: string;
  after?: string[];
  optional?: string;
  check(): string;
  run(options: { asRoot(why: string): Promise<string[]> }): Promise<void>;
}

/** What happened, in order. */
let log: string[] = [];
let lines: string[] = [];

/** A step that ends when the test says so. */
function step(
  name: string,
  rest: Partial<FakeStep> = {},
): FakeStep & { end(): void; fail(why: string): void } {
  let resolve = (): void => {};
  let reject = (_error: Error): void => {};
  const promise = new Promise<void>((...ends) => {
    [resolve, reject] = ends;
  });
  let isDone = false;
  return {
    name,
    what: `the ${name}`,
    check: () => (isDone ? '' : 'missing'),
    async run() {
      log.push(`${name} begins`);
      await promise;
      log.push(`${name} ends`);
      isDone = true;
    },
    end: resolve,
    fail: (why) => reject(new SetupError(why)),
    ...rest,
  };
}

function run(...steps: FakeStep[]): Promise<void> {
  log = [];
  lines = [];
  return doSteps(steps, { yes: true, verbose: false, print: (line: string) => lines.push(line) });
}

/** Lets all that can go on do so. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

test('steps run side by side, each after those that it needs', async () => {
  const [first, second, other] = [
    step('first'),
    step('second', { after: ['first', 'absent'] }),
    step('other'),
  ];
  const ended = run(first, second, other);
  await settle();
  expect(log).toEqual(['first begins', 'other begins']);
  first.end();
  await settle();
  expect(log.slice(2)).toEqual(['first ends', 'second begins']);
  second.end();
  other.end();
  await ended;
  expect(lines.at(-1)).toMatch(/^set-up: complete after \d+ s\n$/);
});

test('a step that fails lets the others end, and those that need it do not begin', async () => {
  const [first, second, other] = [step('first'), step('second', { after: ['first'] }), step('other')];
  const ended = run(first, second, other);
  let failure: unknown = null;
  ended.catch((error: unknown) => {
    failure = error;
  });
  first.fail('no room');
  await settle();
  expect(failure).toBe(null);
  other.end();
  await expect(ended).rejects.toThrow('no room');
  expect(log).toEqual(['first begins', 'other begins', 'other ends']);
});

test('without an optional step the others go on', async () => {
  const [first, second] = [step('first', { optional: 'slower' }), step('second', { after: ['first'] })];
  const ended = run(first, second);
  first.fail('not to be had');
  second.end();
  await ended;
  expect(log).toEqual(['first begins', 'second begins', 'second ends']);
  expect(lines).toContain('        not to be had: slower');
});

test('a step that ran in vain is reported', async () => {
  const vain = step('vain', { check: () => 'missing', run: async () => {} });
  await expect(run(vain)).rejects.toThrow('set-up of the vain ran, but it is still missing: missing');
});
