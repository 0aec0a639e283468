/** What hopwise learns from measured loads. No browser and no Node interfaces: the extension and the benches supply the data. */
export { isSlower, MAX_CHECKED_LOADS } from './rollback/sequential-check.ts';
