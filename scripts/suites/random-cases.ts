/** A set-up file of Vitest: how many random cases a property is tried with that names no number of its own. */
import fc from 'fast-check';
import { countRuns } from './draw-share.ts';

fc.configureGlobal({ ...fc.readConfigureGlobal(), numRuns: countRuns(40, 100) });
