import { CASES_PER_ROUND, type FaultBrowserName, testRealFaults } from './real-faults.ts';

const { env } = process;

testRealFaults({
  browser: (env.HOPWISE_FAULTS_BROWSER ?? 'chromium') as FaultBrowserName,
  cases: Number(env.HOPWISE_FAULTS_CASES ?? CASES_PER_ROUND),
  seed: Number(env.HOPWISE_FAULTS_SEED ?? 1),
  only: env.HOPWISE_FAULTS_CASE,
  // The bench says how many cases there are.
  ...(env.HOPWISE_FAULTS_CASES !== undefined && { all: true }),
});
