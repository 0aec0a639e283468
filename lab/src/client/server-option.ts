import { InvalidArgumentError, Option } from 'commander';
import { type ServerStack, STACKS } from './server-stack.ts';

/** `--server` of commands that load pages in the lab; its value is a `ServerStack`. */
export function serverOption(): Option {
  return new Option('--server <stack>', 'the servers: go, or nginx with quiche for HTTP/3')
    .argParser(stackNamed)
    .default('go' satisfies ServerStack);
}

function stackNamed(name: string): ServerStack {
  const stack = new Map<string, ServerStack>(Object.entries(STACKS)).get(name);
  if (stack === undefined) throw new InvalidArgumentError(`expected ${Object.keys(STACKS).join(' or ')}`);
  return stack;
}
