/** Runs a program again and again, while its own process group gets signals, until one has reached the program or failed otherwise. */
import { ProgramKilled, runProgram } from '../../src/util/run-program.ts';

process.on('SIGINT', () => {});
console.log('ready');
for (;;) {
  try {
    await runProgram(['true']);
  } catch (error) {
    console.log(error instanceof ProgramKilled ? 'killed' : `failed: ${error}`);
    break;
  }
}
