/**
 * Checks a program's arguments without running it. Loaded before the program (`NODE_OPTIONS=--import=…`), it has commander read the arguments and
 * call no action, and then ends the program: with 0, or as always where an argument is refused.
 */
import process from 'node:process';
import { Command } from 'commander';

const { action, parse, parseAsync } = Command.prototype;

Command.prototype.action = function () {
  return action.call(this, () => {});
};

Command.prototype.parse = function (...words) {
  parse.apply(this, words);
  process.exit(0);
};

Command.prototype.parseAsync = async function (...words) {
  await parseAsync.apply(this, words);
  process.exit(0);
};
