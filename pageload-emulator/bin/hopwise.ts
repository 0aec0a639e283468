#!/usr/bin/env node
import { writingProblem } from '@hopwise/contract/command-line';
import { runHopwise } from './run-hopwise.ts';

// `hopwise predict … | head` closes the pipe: that is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  process.stderr.write(
    `hopwise: standard output: expected a file that can be written, ${writingProblem(error)}\n`,
  );
  process.exit(1);
});

await runHopwise(process.argv.slice(2));
