/** Loss by congestion window, p(cwnd, npc) of ECON (Cao et al., IMC 2019), as the rounds of a transfer meet it. */
export interface LossByWindow {
  /**
   * Probability that a round which fills a window of `cwnd` segments has a loss event, given that the
   * round before it, which filled one of `before`, had none.
   *
   * @param before left out for a transfer's or a climb's first round
   */
  inRound(cwnd: number, before?: number): number;
  /**
   * Loss per segment in a window of `cwnd`, where segments are lost independently of one another. Absent where only
   * loss events were measured: the event of a round is then equally likely at each of its segments.
   */
  perSegment?(cwnd: number): number;
  /** Smallest and largest window that was measured. */
  readonly smallest: number;
  readonly largest: number;
}
