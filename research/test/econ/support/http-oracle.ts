import {
  drawLoss,
  type Mean,
  meanOf,
  type OracleConditions,
  OracleWindow,
  oracleRandom,
} from '../../../src/econ/oracle.ts';

/** A connection of unlimited rate that carries one response after the other, in slow start or behind it. */
class OracleConnection {
  readonly #conditions: OracleConditions;
  readonly #random: () => number;
  #slowStart: number | null;
  #avoidance: OracleWindow | null = null;

  constructor(conditions: OracleConditions, random: () => number, initialWindow: number) {
    this.#conditions = conditions;
    this.#random = random;
    this.#slowStart = initialWindow;
  }

  /** @returns how long `size` segments take, request included */
  transferMs(size: number): number {
    const { rttMs, cubic } = this.#conditions;
    let left = size;
    for (let ms = rttMs; ; ms += rttMs) {
      const cwnd = this.#slowStart ?? Math.floor(this.#avoidance!.cwnd);
      const count = Math.ceil(Math.min(cwnd, left));
      const lost = drawLoss(this.#conditions, this.#random, cwnd, count);
      if (lost > 0) {
        let recovered = lost;
        if (this.#slowStart === null) this.#avoidance!.lose(cwnd);
        else {
          const grown = cwnd + lost - 1;
          this.#slowStart = null;
          this.#avoidance = new OracleWindow(cubic, grown, grown, grown);
          this.#avoidance.lose(grown);
          recovered = 2 * lost - 1;
        }
        ms += rttMs;
        left -= count - 1 + recovered;
        if (left <= 0) return ms;
        continue;
      }
      left -= cwnd;
      if (left <= 0) return ms;
      if (this.#slowStart === null) this.#avoidance!.round(rttMs);
      else this.#slowStart *= 2;
    }
  }
}

/** Objects of one size over HTTP/1.1: one connection is open, five open at once, each takes the next object when free. */
export function simulateHttp1(
  conditions: OracleConditions,
  objects: number,
  segments: number,
  handshakeMs: number,
  samples: number,
  seed: number,
): Mean {
  const random = oracleRandom(seed);
  return meanOf(
    Array.from({ length: samples }, () => {
      const connections = Array.from({ length: 6 }, (_, index) => ({
        freeMs: index === 0 ? 0 : handshakeMs,
        carries: new OracleConnection(conditions, random, 10),
      }));
      let endMs = 0;
      for (let object = 0; object < objects; object++) {
        const next = connections.reduce((first, one) => (one.freeMs < first.freeMs ? one : first));
        next.freeMs += next.carries.transferMs(segments);
        endMs = Math.max(endMs, next.freeMs);
      }
      return endMs;
    }),
  );
}

/** Objects of one size over HTTP/2: one open connection carries them as one flow. */
export function simulateHttp2(
  conditions: OracleConditions,
  objects: number,
  segments: number,
  samples: number,
  seed: number,
): Mean {
  const random = oracleRandom(seed);
  return meanOf(
    Array.from({ length: samples }, () =>
      new OracleConnection(conditions, random, 10).transferMs(objects * segments),
    ),
  );
}
