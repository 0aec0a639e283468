/**
 * What the packages of hopwise share: types, schemas and ids of what passes between them. It imports no other package, and
 * holds logic only where two packages must do the same (`address-space.ts`, `origin-use.ts`, `this-machine.ts`,
 * `verification-parts.ts`).
 */
export * from './address-space.ts';
export type * from './decision.ts';
export * from './ids.ts';
export type * from './known-network.ts';
export * from './language.ts';
export type * from './load-time.ts';
export * from './messages.ts';
export type * from './network-path.ts';
export * from './origin-use.ts';
export * from './pins.ts';
export type * from './prediction.ts';
export * from './protocol.ts';
export type * from './recording.ts';
export { originSchema } from './schemas.ts';
export * from './this-machine.ts';
export * from './transfer-plan.ts';
export * from './verification.ts';
export * from './verification-parts.ts';
export type * from './waterfall-entry.ts';
