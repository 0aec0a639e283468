import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { type TransferPlan, verificationSchema } from '@hopwise/contract';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { Engine } from '../../src/engine/engine.ts';
import { type ProbeOptions, probe } from '../../src/probe/probe.ts';
import { bundle, planOf, type Server, ServerProgram } from '../support/server.ts';

let program: ServerProgram;
let running: Server[] = [];
let engines: Engine[] = [];

beforeAll(() => {
  program = new ServerProgram();
});

afterAll(() => {
  program.remove();
  delete process.env.HOPWISE_CA_FILE;
});

afterEach(async () => {
  for (const engine of engines) await engine.close();
  for (const server of running) await server.stop();
  engines = [];
  running = [];
});

/** Servers that the next engine trusts. */
async function start(...settings: string[][]): Promise<Server[]> {
  running = await Promise.all(settings.map((args) => program.start(...args)));
  process.env.HOPWISE_CA_FILE = join(program.folder, 'bundle.pem');
  writeFileSync(process.env.HOPWISE_CA_FILE, bundle(running));
  return running;
}

function engine(): Engine {
  const made = new Engine();
  engines.push(made);
  return made;
}

const ALL: ProbeOptions = { protocols: ['h1', 'h2', 'h3'], rounds: 2, budgetBytes: 1e9 };

function page(server: Server, resources = 20): TransferPlan {
  return planOf([
    server.url('/bytes/5000'),
    ...Array.from({ length: resources }, (_, index) => server.url(`/bytes/10000/${index}`)),
  ]);
}

it('carries the page under each protocol, interleaved, in an order that changes', async () => {
  const [server] = await start([]);
  // 185 kB: too few to judge UDP's rate, which on a busy machine could be either.
  const verification = await probe(engine(), page(server!, 18), ALL);
  expect(verificationSchema.parse(verification)).toEqual(verification);
  expect(verification.udp).toMatchObject({ verdict: 'unknown', answered: true });
  for (const protocol of ['h1', 'h2', 'h3'] as const) {
    const outcome = verification.protocols[protocol]!;
    expect(outcome).toMatchObject({ unavailable: '', provedRequests: 38, answeredRequests: 38 });
    expect(outcome.rounds.map(({ failed }) => failed)).toEqual([0, 0]);
    const totals = outcome.rounds.map(({ totalMs }) => totalMs);
    expect(outcome.medianMs).toBeCloseTo((totals[0]! + totals[1]!) / 2, 6);
    expect([outcome.lowMs, outcome.highMs]).toEqual([Math.min(...totals), Math.max(...totals)]);
  }
  // Two requests of the survey, then 19 a round.
  const protos = (await server!.seen(2 + 6 * 19)).map(({ proto }) => proto);
  expect(protos.slice(0, 2)).toEqual(['HTTP/2.0', 'HTTP/3.0']);
  const rounds = Array.from(
    { length: 6 },
    (_, round) => new Set(protos.slice(2 + round * 19, 2 + (round + 1) * 19)),
  );
  expect(rounds.map((round) => [...round].join())).toEqual([
    'HTTP/2.0',
    'HTTP/3.0',
    'HTTP/1.1',
    'HTTP/3.0',
    'HTTP/1.1',
    'HTTP/2.0',
  ]);
});

it('transfers the page by assignments that no single protocol equals', async () => {
  const [own, other] = await start([], []);
  const plan = planOf([own!.url('/bytes/5000'), own!.url('/bytes/20'), other!.url('/bytes/30')]);
  const [first, second] = [own!.url('').replace(/\/$/, ''), other!.url('').replace(/\/$/, '')];
  const mixed = { assignment: { [first]: 'h2', [second]: 'h3' }, discoversH3: false } as const;
  const allH2 = { assignment: { [first]: 'h2', [second]: 'h2' }, discoversH3: false } as const;
  const verification = await probe(engine(), plan, {
    protocols: ['h2'],
    assignments: [mixed, allH2, mixed],
    rounds: 1,
    budgetBytes: 1e9,
  });
  expect(verificationSchema.parse(verification)).toEqual(verification);
  expect(verification.assignments).toHaveLength(1);
  const [verified] = verification.assignments!;
  expect(verified).toMatchObject({ ...mixed, unavailable: '', provedRequests: 3, answeredRequests: 3 });
  expect(verified!.rounds[0]!.transfers.map(({ protocol }) => protocol)).toEqual(['h2', 'h2', 'h3']);
});

it('uses HTTP/3 on a first visit once a response has offered it', async () => {
  const [server] = await start([]);
  const plan = planOf([server!.url('/bytes/5000'), server!.url('/bytes/20'), server!.url('/bytes/30')]);
  const assignment = { [new URL(plan.pageUrl).origin]: 'h3' } as const;
  const { assignments } = await probe(engine(), plan, {
    protocols: ['h2', 'h3'],
    assignments: [{ assignment, discoversH3: true }],
    rounds: 2,
    budgetBytes: 1e9,
  });
  expect(assignments).toHaveLength(1);
  expect(assignments![0]).toMatchObject({ unavailable: '', provedRequests: 6, answeredRequests: 6 });
  for (const { transfers } of assignments![0]!.rounds)
    expect(transfers.map(({ protocol }) => protocol)).toEqual(['h2', 'h3', 'h3']);
});

it('reports progress up to the last transfer', async () => {
  const [server] = await start([]);
  const done: number[] = [];
  await probe(engine(), page(server!, 5), {
    ...ALL,
    protocols: ['h2'],
    onProgress: ({ doneTransfers, allTransfers, protocol }) => {
      expect(allTransfers).toBe(12);
      expect(protocol).toBe('h2');
      done.push(doneTransfers);
    },
  });
  expect(done).toEqual(Array.from({ length: 12 }, (_, index) => index + 1));
});

/** A new engine whose process is up. */
async function startedEngine(): Promise<Engine> {
  const made = engine();
  await made.start();
  return made;
}

it('calls HTTP/3 unavailable at once where its port refuses', async () => {
  const [server] = await start(['-protocols', 'h1,h2']);
  const own = await startedEngine();
  const tookMs = async (options: ProbeOptions) => {
    const begin = performance.now();
    const verification = await probe(own, page(server!), options);
    return { verification, ms: performance.now() - begin };
  };
  const without = await tookMs({ ...ALL, protocols: ['h1', 'h2'] });
  const { verification, ms } = await tookMs(ALL);
  // A server that were silent would take a connect timeout of 5 s.
  expect(ms - without.ms).toBeLessThan(4000);
  // Its refusal shows that UDP reaches it.
  expect(verification.udp).toMatchObject({ verdict: 'unknown', answered: false });
  expect(verification.protocols.h3).toMatchObject({ rounds: [], medianMs: null });
  expect(verification.protocols.h3!.unavailable).toMatch(/ offers HTTP\/3 in vain: its UDP port is closed$/);
  expect(verification.protocols.h2).toMatchObject({ unavailable: '', provedRequests: 42 });
});

it('calls HTTP/3 unavailable after one connect timeout where UDP falls silent', async () => {
  const [server] = await start(['-protocols', 'h1,h2', '-silent-udp']);
  const own = await startedEngine();
  const begin = performance.now();
  // The name localhost would try ::1 as well, which refuses.
  const plan = planOf([server!.url('/bytes/10', '127.0.0.1'), server!.url('/bytes/20', '127.0.0.1')]);
  const verification = await probe(own, plan, { ...ALL, rounds: 4 });
  const ms = performance.now() - begin;
  expect(ms).toBeGreaterThan(4500);
  // Four rounds would be four timeouts.
  expect(ms).toBeLessThan(14_000);
  expect(verification.udp).toMatchObject({ verdict: 'blocked', answered: false });
  expect(verification.protocols.h3!.unavailable).toContain('UDP is blocked');
});

it('distinguishes HTTP/3 that is not offered from HTTP/3 that is blocked', async () => {
  const [server] = await start(['-protocols', 'h1,h2', '-alt-svc', '']);
  const verification = await probe(engine(), page(server!), ALL);
  expect(verification.udp).toMatchObject({ verdict: 'unknown', answered: null });
  expect(verification.protocols.h3!.unavailable).toContain('no server of this page offers HTTP/3');
});

it('does not call a page unreachable that HTTP/3 alone cannot carry', async () => {
  const [server] = await start(['-protocols', 'h1', '-alt-svc', '']);
  const { udp } = await probe(engine(), page(server!), { ...ALL, protocols: ['h3'] });
  expect(udp.reason).toContain('no server of this page offers HTTP/3');
});

it('calls HTTP/2 unavailable where every server chooses HTTP/1.1', async () => {
  const [server] = await start(['-protocols', 'h1', '-alt-svc', '']);
  const verification = await probe(engine(), page(server!), ALL);
  expect(verification.protocols.h2!.unavailable).toContain('no server of this page speaks HTTP/2');
  expect(verification.protocols.h1).toMatchObject({ unavailable: '', provedRequests: 42 });
});

it('asks an origin without the protocol under the best that it has', async () => {
  const [full, old] = await start([], ['-protocols', 'h1', '-alt-svc', '']);
  const plan = planOf([full!.url('/bytes/10'), full!.url('/bytes/20'), old!.url('/bytes/30')]);
  const verification = await probe(engine(), plan, { ...ALL, rounds: 1 });
  expect(verification.protocols.h1).toMatchObject({ provedRequests: 3, answeredRequests: 3 });
  expect(verification.protocols.h2).toMatchObject({ provedRequests: 2, answeredRequests: 3 });
  expect(verification.protocols.h3).toMatchObject({
    provedRequests: 2,
    answeredRequests: 3,
    unavailable: '',
  });
  expect(verification.protocols.h3!.rounds[0]!.transfers.map(({ protocol }) => protocol)).toEqual([
    'h3',
    'h3',
    'h1',
  ]);
  expect(verification.udp.answered).toBe(true);
});

it('follows an offer of HTTP/3 on another port', async () => {
  const [elsewhere] = await start([]);
  const other = await program.start('-protocols', 'h1,h2', '-alt-svc', `h3=":${elsewhere!.port}"`);
  running.push(other);
  writeFileSync(process.env.HOPWISE_CA_FILE!, bundle(running));
  const verification = await probe(engine(), page(other, 3), { ...ALL, rounds: 1 });
  expect(verification.protocols.h3).toMatchObject({ unavailable: '', provedRequests: 4 });
  const seen = await elsewhere!.seen(5);
  expect(seen.every(({ proto }) => proto === 'HTTP/3.0')).toBe(true);
  expect(new Set(seen.map(({ host }) => host))).toEqual(new Set([`localhost:${other.port}`]));
});

/** An address of this machine that is not its loopback's, as another machine's page would have. */
const outside = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;

it.skipIf(!outside)('asks nothing of this machine for a page from elsewhere', async () => {
  const [page, inside] = await start(['-address', outside!], []);
  const plan = planOf([page!.url('/bytes/10', outside), inside!.url('/bytes/20', '127.0.0.1')]);
  const verification = await probe(engine(), plan, { ...ALL, rounds: 1 });
  for (const protocol of ['h1', 'h2', 'h3'] as const) {
    const { unavailable, rounds } = verification.protocols[protocol]!;
    expect(unavailable).toBe('');
    expect(rounds[0]!.transfers.map(({ status }) => status)).toEqual([200, 0]);
    expect(rounds[0]!.transfers[1]!.error).toMatch(/^127\.0\.0\.1 is a loopback address/);
  }
  expect(await inside!.seen()).toEqual([]);
});

it('connects to nothing of this machine where no person has asked, also for a page whose name leads here by now', async () => {
  const [server] = await start([]);
  let connections = 0;
  const listener = createServer((socket) => {
    connections++;
    socket.destroy();
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const { port } = listener.address() as AddressInfo;
  try {
    for (const url of [server!.url('/bytes/10'), `https://localhost:${port}/`]) {
      const verification = await probe(engine(), planOf([url]), { ...ALL, rounds: 1, publicOnly: true });
      for (const protocol of ['h1', 'h2', 'h3'] as const)
        expect(verification.protocols[protocol]!.unavailable).toMatch(/is a loopback address/);
    }
  } finally {
    listener.close();
  }
  expect(await server!.seen()).toEqual([]);
  expect(connections).toBe(0);
});

it('says why an unreachable page has no times', async () => {
  const [server] = await start([]);
  const plan = page(server!);
  await server!.stop();
  running = [];
  const verification = await probe(engine(), plan, ALL);
  for (const protocol of ['h1', 'h2', 'h3'] as const) {
    expect(verification.protocols[protocol]!.unavailable).toMatch(/cannot be reached: .*onnect/);
  }
});

it('fails only the requests of an origin that is down', async () => {
  const [server, down] = await start([], []);
  const plan = planOf([server!.url('/bytes/10'), down!.url('/bytes/10'), server!.url('/bytes/30')]);
  plan.transfers[2]!.after = [1];
  await down!.stop();
  running = [server!];
  const verification = await probe(engine(), plan, { ...ALL, rounds: 1 });
  for (const protocol of ['h1', 'h2', 'h3'] as const) {
    const [round] = verification.protocols[protocol]!.rounds;
    expect(round!.failed).toBe(1);
    expect(round!.transfers.map(({ status }) => status)).toEqual([200, 0, 200]);
  }
});

it('keeps to the budget and gives the sets of rounds that it allowed', async () => {
  const [server] = await start([]);
  const budgetBytes = 1_000_000;
  const verification = await probe(engine(), page(server!), { ...ALL, rounds: 20, budgetBytes });
  expect(verification.bytes).toBeLessThanOrEqual(budgetBytes);
  expect(verification.stopped).toMatch(/^the budget of 1000000 bytes does not allow another round/);
  // A round is 205 kB of bodies.
  const counts = (['h1', 'h2', 'h3'] as const).map(
    (protocol) => verification.protocols[protocol]!.rounds.length,
  );
  expect(counts).toEqual([1, 1, 1]);
});

/** The page with the sizes that a recording would have. */
function sizedPage(server: Server): { plan: TransferPlan; bytes: number } {
  const plan = page(server);
  // Headers are another 170 bytes or so.
  for (const transfer of plan.transfers) transfer.bytes = 10_170;
  plan.transfers[0]!.bytes = 5_170;
  return { plan, bytes: plan.transfers.reduce((sum, { bytes }) => sum + bytes, 0) };
}

it('spends three times the page by default, for a round under each protocol', async () => {
  const [server] = await start([]);
  const { plan, bytes } = sizedPage(server!);
  const verification = await probe(engine(), plan, { ...ALL, budgetBytes: null, rounds: 5 });
  expect(verification.budgetBytes).toBe(3 * bytes);
  expect(verification.bytes).toBeLessThanOrEqual(3 * bytes);
  expect(verification).not.toHaveProperty('stopped');
  expect(verification.leftOut).toBe(1);
  for (const protocol of ['h1', 'h2', 'h3'] as const) {
    expect(verification.protocols[protocol]).toMatchObject({ provedRequests: 20, answeredRequests: 20 });
    expect(verification.protocols[protocol]!.rounds).toHaveLength(1);
  }
});

it('learns from the first round how large a page is of which nothing is known', async () => {
  const [server] = await start([]);
  const verification = await probe(engine(), page(server!), { ...ALL, budgetBytes: null, rounds: 5 });
  const counts = (['h1', 'h2', 'h3'] as const).map(
    (protocol) => verification.protocols[protocol]!.rounds.length,
  );
  expect(counts).toEqual([1, 1, 1]);
  const { bytes } = verification.protocols.h2!.rounds[0]!;
  expect(verification.bytes).toBeLessThan(3.2 * bytes);
});

it('stays within three times the page where servers send far more, and without end', async () => {
  const [server] = await start([]);
  const { plan, bytes } = sizedPage(server!);
  // With a length, and in chunks without one.
  plan.transfers[5]!.url = server!.url('/bytes/5000000');
  plan.transfers[6]!.url = server!.url('/trickle/500000000');
  const verification = await probe(engine(), plan, { ...ALL, budgetBytes: null });
  expect(verification.bytes).toBeLessThanOrEqual(3 * bytes);
  for (const protocol of ['h1', 'h2', 'h3'] as const) {
    const [round] = verification.protocols[protocol]!.rounds;
    expect(round!.transfers.filter(({ status }) => status === 200).length).toBeGreaterThan(15);
  }
  for (const transfer of plan.transfers) transfer.url = server!.url('/trickle/500000000');
  plan.transfers[0]!.url = server!.url('/bytes/5000');
  const probing = probe(engine(), plan, { ...ALL, budgetBytes: null });
  const outcome = await probing.catch((fault: Error) => fault);
  if (outcome instanceof Error) expect(outcome).toMatchObject({ code: 'budget' });
  else expect(outcome.bytes).toBeLessThanOrEqual(3 * bytes);
});

it('reports the offers of each origin and the figures of its connections', async () => {
  const [server, old] = await start([], ['-protocols', 'h1', '-alt-svc', '']);
  const plan = planOf([server!.url('/bytes/10'), server!.url('/bytes/100000'), old!.url('/bytes/10')]);
  const { origins } = await probe(engine(), plan, ALL);
  const absent = { state: 'absent', alpn: [], port: null, target: '', ech: false, detail: '' };
  expect(origins).toMatchObject([
    {
      origin: new URL(server!.url('/')).origin,
      unreachable: '',
      h3Offered: { altSvc: [{ host: '', port: server!.port, maxAgeS: 60 }], httpsRecord: absent },
      speaks: { h2: true, h3: true },
      // The survey's one and one of each of four rounds, but six of HTTP/1.1 at most; the survey's and two rounds'.
      quic: { connections: 3 },
    },
    { h3Offered: { altSvc: [], httpsRecord: absent }, speaks: { h2: false, h3: null }, quic: null },
  ]);
  for (const { tcp } of origins) {
    expect(tcp!.minRttMs).toBeGreaterThan(0);
    expect(tcp!.segmentsOut).toBeGreaterThan(2 * tcp!.connections);
    expect(tcp!.lossEvents).toBe(0);
    // A peer that gets round to its answer late is asked by a probe, which counts as sent again (RFC 8985 section 7).
    expect(tcp!.retransmitted).toBeLessThanOrEqual(tcp!.connections);
  }
  expect(origins[0]!.tcp!.connections).toBeGreaterThanOrEqual(5);
  expect(origins[0]!.quic!.rttAtMostMs).toBeGreaterThan(0);
  expect(origins[0]!.quic!.rttAtMostMs).toBeLessThan(1000);
});

it('has no result where the budget allows no round', async () => {
  const [server] = await start([]);
  const probing = probe(engine(), page(server!), { ...ALL, budgetBytes: 50_000 });
  await expect(probing).rejects.toMatchObject({ code: 'budget' });
});

it('does not begin where the plan is known to exceed the budget', async () => {
  const [server] = await start([]);
  const plan = page(server!);
  for (const transfer of plan.transfers) transfer.bytes = 10_000;
  await expect(probe(engine(), plan, { ...ALL, budgetBytes: 100_000 })).rejects.toMatchObject({
    code: 'budget',
  });
  expect((await server!.seen(2)).length).toBeLessThanOrEqual(2);
});

it('gives what it has when its time is over', async () => {
  const [server] = await start([]);
  const slow = planOf([server!.url('/bytes/10'), server!.url('/trickle/5000000')]);
  await expect(probe(engine(), slow, { ...ALL, limitMs: 2000 })).rejects.toMatchObject({
    code: 'budget',
    message: 'the probe took longer than 2 s: at least one server is slow',
  });
  // A round takes about a second.
  const plan = planOf([server!.url('/bytes/10'), server!.url('/trickle/80000')]);
  const verification = await probe(engine(), plan, { ...ALL, protocols: ['h2'], rounds: 20, limitMs: 5000 });
  expect(verification.stopped).toContain('longer than 5 s');
  expect(verification.protocols.h2!.rounds.length).toBeGreaterThan(0);
  expect(verification.protocols.h2!.rounds.length).toBeLessThan(6);
});

it('stops for good at a 429', async () => {
  const [server] = await start([]);
  const plan = planOf([server!.url('/bytes/10'), server!.url('/status/429')]);
  await expect(probe(engine(), plan, ALL)).rejects.toMatchObject({
    code: 'refused',
    message: 'a server answered 429, which asks for fewer requests: the probe stopped',
  });
  const seen = await server!.seen(4);
  expect(seen.filter(({ path }) => path === '/status/429')).toHaveLength(1);
});

it('is cancelled at once', async () => {
  const [server] = await start([]);
  const cancel = new AbortController();
  const plan = planOf([server!.url('/bytes/10'), server!.url('/trickle/5000000')]);
  const probing = probe(engine(), plan, { ...ALL, signal: cancel.signal });
  await server!.seen(4);
  const begin = performance.now();
  cancel.abort();
  await expect(probing).rejects.toMatchObject({ code: 'cancelled' });
  // The transfer itself would go on for a minute.
  expect(performance.now() - begin).toBeLessThan(10_000);
});

it('is cancelled before it begins', async () => {
  const [server] = await start([]);
  const probing = probe(engine(), page(server!), { ...ALL, signal: AbortSignal.abort() });
  await expect(probing).rejects.toMatchObject({ code: 'cancelled' });
  expect(await server!.seen()).toEqual([]);
});

it('survives the death of the engine', async () => {
  const [server] = await start([]);
  const own = engine();
  const plan = planOf([server!.url('/bytes/10'), server!.url('/trickle/300000')]);
  const probing = probe(own, plan, { ...ALL, protocols: ['h2'], rounds: 1 });
  await server!.seen(3);
  process.kill((await own.pid())!, 'SIGKILL');
  await expect(probing).rejects.toMatchObject({ code: 'engine-died' });
  const verification = await probe(own, page(server!), { ...ALL, rounds: 1 });
  expect(verification.protocols.h3).toMatchObject({ unavailable: '', provedRequests: 21 });
});

it('asks the host that a browser would read in a URL', async () => {
  const [server, other] = await start([], []);
  const odd = server!.url(`\\@localhost:${other!.port}/bytes/20`);
  const plan = planOf([server!.url('/bytes/10'), odd]);
  const verification = await probe(engine(), plan, { ...ALL, protocols: ['h2'], rounds: 1 });
  expect(verification.protocols.h2).toMatchObject({ answeredRequests: 2 });
  expect((await server!.seen(3)).at(-1)).toMatchObject({ path: `/@localhost:${other!.port}/bytes/20` });
  expect(await other!.seen()).toEqual([]);
});

it('sends no credentials of a URL', async () => {
  const [server] = await start([]);
  const plan = planOf([server!.url('/bytes/10'), server!.url('/bytes/20').replace('//', '//user:secret@')]);
  const verification = await probe(engine(), plan, { ...ALL, protocols: ['h2'], rounds: 1 });
  expect(verification.protocols.h2!.rounds[0]).toMatchObject({ failed: 1 });
  expect((await server!.seen(2)).some(({ path }) => path === '/bytes/20')).toBe(false);
});

it('asks nothing for a page whose own URL carries credentials', async () => {
  const [server] = await start([]);
  const plan = planOf([server!.url('/bytes/10').replace('//', '//user:secret@'), server!.url('/bytes/20')]);
  const verification = await probe(engine(), plan, ALL);
  expect(verification.protocols.h2!.unavailable).toContain('its URL carries credentials');
  expect(await server!.seen()).toEqual([]);
});

it.each([
  [
    'an edge that points forwards',
    (plan: TransferPlan) => plan.transfers[1]!.after.push(2),
    'plan.transfers[1].after',
  ],
  [
    'a URL that is none',
    (plan: TransferPlan) => {
      plan.transfers[2]!.url = 'https://[';
    },
    'plan.transfers[2].url',
  ],
])('refuses %s', async (_name, spoil, where) => {
  const plan = planOf(['https://a.test/', 'https://a.test/1', 'https://a.test/2']);
  spoil(plan);
  const probing = probe(engine(), plan, ALL);
  await expect(probing).rejects.toMatchObject({ code: 'bad-message' });
  await expect(probing).rejects.toThrow(where);
});

it('says which engine is missing', async () => {
  const own = new Engine({ libcurl: '/nowhere/libcurl.so' });
  engines.push(own);
  await expect(probe(own, planOf(['https://a.test/']), ALL)).rejects.toMatchObject({ code: 'no-engine' });
});

it('names what ended a transfer, not an address that was tried before', async () => {
  // `localhost` may be ::1 as well, where nothing listens.
  const [server] = await start([]);
  const { protocols } = await probe(engine(), planOf([server!.url('/cut/60000')]), ALL);
  const [transfer] = protocols.h3!.rounds[0]!.transfers;
  expect(transfer).toMatchObject({ protocol: 'h3', error: expect.not.stringContaining('refused') });
  expect(transfer!.error).not.toBe('');
});

it('names a certificate that is not accepted', async () => {
  const [server] = await start(['-lifetime', '-1h']);
  const { protocols } = await probe(engine(), page(server!), ALL);
  expect(protocols.h2!.unavailable).toMatch(/cannot be reached: .*certificate/);
});
