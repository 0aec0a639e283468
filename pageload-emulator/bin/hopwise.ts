#!/usr/bin/env node
import { runHopwise } from './run-hopwise.ts';

// `hopwise predict … | head` closes the pipe: that is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

await runHopwise(process.argv.slice(2));
