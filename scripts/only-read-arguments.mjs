/**
 * Loaded before a program of the project (`NODE_OPTIONS=--import=…`): it ends with 0 once commander has read its arguments, before it does
 * anything; arguments that cannot be used it refuses as always.
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
