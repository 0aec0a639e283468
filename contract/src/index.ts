/**
 * What the packages of hopwise share: types, schemas and ids of what passes between them, and the pure functions over them that several
 * packages need. It imports no other package.
 */
export * from './address-space.ts';
export * from './alt-svc.ts';
export * from './browser-limits.ts';
export * from './decision.ts';
export * from './durations.ts';
export * from './error-text.ts';
export * from './group-by.ts';
export * from './ids.ts';
export * from './installation-check.ts';
export * from './language.ts';
export * from './measured-exchange.ts';
export * from './messages.ts';
export type * from './network-path.ts';
export * from './origin-use.ts';
export * from './pins.ts';
export * from './prediction.ts';
export * from './protocol.ts';
export * from './quantity.ts';
export * from './recording.ts';
export * from './repeat.ts';
export { originSchema } from './schemas.ts';
export * from './serial-queue.ts';
export * from './statistics.ts';
export * from './this-machine.ts';
export * from './transfer-plan.ts';
export * from './userinfo.ts';
export * from './verification.ts';
export * from './verification-parts.ts';
