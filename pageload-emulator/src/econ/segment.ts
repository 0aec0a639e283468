/** Payload of a full segment: 1,500 bytes of IP with TCP's timestamps. */
export const SEGMENT_BYTES = 1_448;
/** On the wire. */
export const SEGMENT_WIRE_BYTES = 1_500;
