/**
 * Probabilities of UDP's treatment: 4.4% of users could not use QUIC and 0.3% had it rate-limited (Langley et al., "The
 * QUIC Transport Protocol", SIGCOMM 2017, section 7.2). Users of hopwise have more reason than most to suspect their network,
 * so policing is assumed to be five times as frequent.
 */
export const UDP_PRIOR = { blocked: 0.044, policed: 0.015 };
