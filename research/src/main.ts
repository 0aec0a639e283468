/** `npm run research`: measurements about the papers rather than about hopwise. */
import { runProgram } from '@hopwise/lab/command/program';
import { research } from './command.ts';

await runProgram((context) => research(process.argv.slice(2), context));
