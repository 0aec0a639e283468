/**
 * Loaded into the host and its engine before everything else (`--import`): faults that cannot be caused from outside. SIGUSR2 has the
 * engine write garbage into its pipe to the host, and sets the host's clock by what the file `HOPWISE_TEST_CLOCK` says. That
 * clock is JavaScript's only: neither OpenSSL nor libcurl sees it.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync, writeSync } from 'node:fs';
import { EXCHANGE_PIPE } from '../../src/engine/ipc.ts';

const isEngine = process.argv[1]?.endsWith('/child.ts') ?? false;
const now = Date.now;
let offsetMs = 0;

// Before other modules keep a reference to it.
Date.now = () => now() + offsetMs;

process.on('SIGUSR2', () => {
  if (isEngine) writeSync(EXCHANGE_PIPE, randomBytes(64));
  else {
    const file = process.env.HOPWISE_TEST_CLOCK!;
    offsetMs = Number(readFileSync(file, 'utf8'));
    writeFileSync(`${file}.set`, '');
  }
});
