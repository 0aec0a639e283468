import { firefoxPath } from '../../firefox/firefox.ts';
import { CASES_PER_ROUND, FAULT_BROWSERS, testRealFaults } from './real-faults.ts';

const SEED = Number(process.env.HOPWISE_FAULTS_SEED ?? 101);
const ROUNDS = 3;

for (const browser of FAULT_BROWSERS) {
  if (browser === 'firefox' && !firefoxPath()) console.log('skipped: no Firefox');
  else testRealFaults({ browser, cases: ROUNDS * CASES_PER_ROUND, seed: SEED, only: undefined });
}
