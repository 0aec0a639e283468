/** One request in the waterfall of an emulated load; milliseconds after navigationStart. */
export interface WaterfallEntry {
  /** `RecordedRequest.id`. */
  requestId: number;
  /** When the browser decided to make it. */
  startMs: number;
  /** When it left on an open connection. */
  sentMs: number;
  /** When its response's first byte arrived. */
  firstByteMs: number;
  /** When its response's last byte arrived. */
  endMs: number;
}
