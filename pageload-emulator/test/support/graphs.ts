import type {
  Activity,
  Assignment,
  CongestionControl,
  NetworkPath,
  PageGraph,
  Protocol,
  ServerProfile,
  UdpTreatment,
} from '@hopwise/pageload-emulator';
import fc from 'fast-check';
import { pathOf, serverOf } from './pages.ts';

export const ORIGINS = ['https://a.test', 'https://b.test', 'https://c.test', 'https://d.test'];

interface ActivitySketch {
  compute: boolean;
  origin: number;
  bytes: number;
  parents: { pick: number; fraction: number }[];
  urgency: number;
  incremental: boolean;
  blocksLoad: boolean;
  delayMs: number;
  thinkMs: number | undefined;
  pool: number;
}

const sketch: fc.Arbitrary<ActivitySketch> = fc.record({
  compute: fc.boolean(),
  origin: fc.nat(ORIGINS.length - 1),
  bytes: fc.oneof(fc.integer({ min: 1, max: 3_000 }), fc.integer({ min: 1, max: 250_000 })),
  parents: fc.array(fc.record({ pick: fc.nat(1_000), fraction: fc.constantFrom(0, 0.3, 1, 1) }), {
    minLength: 1,
    maxLength: 3,
  }),
  urgency: fc.integer({ min: 0, max: 5 }),
  incremental: fc.boolean(),
  blocksLoad: fc.constantFrom(true, true, true, false),
  delayMs: fc.constantFrom(0, 0, 15),
  thinkMs: fc.constantFrom(undefined, 0, 40),
  pool: fc.constantFrom(0, 0, 0, 1),
});

/**
 * Page graphs of up to 40 activities on four origins: a document, then fetches and computations, each waiting for parts of
 * up to three activities before it.
 */
export const graph: fc.Arbitrary<PageGraph> = fc
  .array(sketch, { minLength: 1, maxLength: 40 })
  .map((sketches) => ({
    url: `${ORIGINS[0]}/`,
    origins: ORIGINS,
    activities: sketches.map((own, id) => activityOf(own, id, sketches)),
  }));

function activityOf(own: ActivitySketch, id: number, sketches: readonly ActivitySketch[]): Activity {
  const isCompute = (index: number) => index > 0 && sketches[index]!.compute && index % 3 === 0;
  const after = id === 0 ? [] : own.parents.map(({ pick, fraction }) => ({ activity: pick % id, fraction }));
  const edges = after.map(({ activity, fraction }) => ({
    activity,
    kind: 'parser' as const,
    fraction: isCompute(activity) ? 1 : fraction,
    source: 'recorded' as const,
  }));
  const blocksLoad = id === 0 || own.blocksLoad;
  if (isCompute(id)) {
    return { kind: 'compute', id, requestId: 0, durationMs: own.delayMs, blocksLoad, after: edges };
  }
  const origin = id === 0 ? 0 : own.origin;
  return {
    kind: 'fetch',
    id,
    requestId: id,
    url: `${ORIGINS[origin]}/${id}`,
    origin,
    type: id === 0 ? 'document' : 'image',
    requestBytes: 400,
    responseBytes: own.bytes,
    blocksLoad,
    renderBlocking: id === 0,
    urgency: own.urgency,
    incremental: own.incremental,
    after: edges,
    delayMs: own.delayMs,
    ...(own.thinkMs !== undefined && { thinkMs: own.thinkMs }),
    ...(own.pool > 0 && { pool: own.pool }),
  };
}

const udp: fc.Arbitrary<UdpTreatment> = fc.constantFrom<UdpTreatment[]>(
  { kind: 'open' },
  { kind: 'open' },
  { kind: 'policed', bps: 2e6 },
  { kind: 'lossy', loss: 0.02 },
);

/** Paths from slow to fast, with queues from shallow to deep. */
export const path: fc.Arbitrary<NetworkPath> = fc
  .record({
    rttMs: fc.constantFrom(5, 40, 120, 300),
    downBps: fc.constantFrom(1e6, 5e6, 20e6, 100e6),
    upShare: fc.constantFrom(0.1, 0.5, 1),
    loss: fc.constantFrom(0, 0.001, 0.01, 0.03),
    lossBurst: fc.constantFrom(1, 4),
    queueShare: fc.constantFrom(0.5, 1, 4),
    udp,
  })
  .map(({ upShare, queueShare, ...figures }) => {
    const whole = pathOf(figures);
    return { ...whole, upBps: whole.downBps * upShare, queueBytes: whole.queueBytes * queueShare };
  });

export const clean = (figures: NetworkPath): NetworkPath => ({ ...figures, loss: 0, udp: { kind: 'open' } });

const control = fc.constantFrom<CongestionControl[]>('cubic', 'reno', 'bbr');
const transport = fc.record({ initialWindow: fc.constantFrom(4, 10, 32), congestionControl: control });

export const servers: fc.Arbitrary<ServerProfile[]> = fc
  .array(
    fc.record({
      extraRttMs: fc.constantFrom(0, 20, 90),
      thinkMs: fc.constantFrom(0, 5, 60),
      tcp: transport,
      quic: transport,
      tlsVersion: fc.constantFrom<ServerProfile['tlsVersion'][]>('1.2', '1.3'),
      dnsMs: fc.constantFrom(0, 25),
      prioritises: fc.boolean(),
    }),
    { minLength: ORIGINS.length, maxLength: ORIGINS.length },
  )
  .map((profiles) => profiles.map((profile, index) => serverOf(ORIGINS[index]!, profile)));

const protocol = fc.constantFrom<Protocol[]>('h1', 'h2', 'h3');

/** One protocol for all origins, or one for each. */
export const assignment: fc.Arbitrary<Assignment> = fc
  .oneof(
    protocol.map((one) => ORIGINS.map(() => one)),
    fc.array(protocol, { minLength: ORIGINS.length, maxLength: ORIGINS.length }),
  )
  .map((protocols) => Object.fromEntries(protocols.map((one, index) => [ORIGINS[index]!, one])));

/** A page with everything that its load depends on. */
export const load = fc.record({ graph, path, servers, assignment, seed: fc.nat(1_000_000) });
