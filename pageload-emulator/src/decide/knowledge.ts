import type { Assignment, Decision, MeasuredLoads, Verification } from '@hopwise/contract';

/** What is known of a page beside its emulation. */
export interface Knowledge {
  /** Transfers of the page's resources under each protocol. */
  verification?: Verification;
  /** Measured loads of the page on this network, without the recorded one. */
  loads?: readonly MeasuredLoads[];
  /** The decision after earlier loads of the page on this network. */
  earlier?: Decision | null;
  /** Protocols that pins held origins to in the recorded load; empty or absent without pins. */
  pinned?: Assignment;
  /**
   * Whether the recorded load was made on another network than the one asked about, so that its time is no evidence. When absent, the
   * given figures of the network decide (`estimate/recorded-elsewhere.ts`).
   */
  isOtherNetwork?: boolean;
  /** Whether the recorded load's time stands beside those of `loads`, as by default; not where recording slowed it down and they were not recorded. */
  isRecordedComparable?: boolean;
}
