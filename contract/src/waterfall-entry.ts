/** One request in the waterfall of an emulated load; milliseconds after navigationStart. */
export interface WaterfallEntry {
  /** `RecordedRequest.id`. */
  requestId: number;
  /** When the browser wanted it. */
  startMs: number;
  /** When its connection was ready and the request left. */
  sentMs: number;
  /** When its response began to arrive. */
  firstByteMs: number;
  /** When its last byte had arrived. */
  endMs: number;
}
