import { type Claim, incomparable } from '../claim.ts';

const NOT_RELEASED =
  "the modified Google QUIC is not released, and quic-go, the lab's HTTP/3 server, takes neither a start window nor a start rate";

export const blitzClaims = (): Claim[] => [
  {
    id: 'blitz-right-rate',
    paper: 'blitz',
    place: 'table of the evaluation',
    stated:
      'at the true rate, beside a flow in progress, 2 MB take 0.56 s (slow DSL), 0.66 s (fast DSL) and 2.2 s (3G) less',
    measure: incomparable(NOT_RELEASED),
  },
  {
    id: 'blitz-short-flows',
    paper: 'blitz',
    place: 'table of the evaluation',
    stated: '70 KB gain nothing significant on DSL and 3G, and 0.22 s on LTE',
    measure: incomparable(NOT_RELEASED),
  },
  {
    id: 'blitz-wrong-rate',
    paper: 'blitz',
    place: 'table of the evaluation',
    stated: 'at 4 times the true rate 2 MB lose 37 times as many packets on slow DSL, 40 times on fast DSL',
    measure: incomparable(NOT_RELEASED),
  },
];
