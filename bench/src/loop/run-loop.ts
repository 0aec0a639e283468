import { browserProgram } from '@hopwise/lab/browser/browser-program';
import { siteInitScript } from '@hopwise/lab/browser/determinism';
import { Lab } from '@hopwise/lab/client/lab';
import { networkOf, profileNamed } from '@hopwise/lab/client/networks';
import { UserError } from '@hopwise/lab/command/errors';
import type { ProgramContext } from '@hopwise/lab/command/program';
import { disturbedBy, type Watched, watchDisturbance } from '@hopwise/lab/loads/disturbance';
import { type Load, MeasuringBrowser } from '@hopwise/lab/loads/measuring-browser';
import type { PageSource } from '@hopwise/lab/pages/page-source';
import { ARMS, type ArmName, DecisionLoop } from './decision-loop.ts';
import { type Phase, scheduleOf } from './schedule.ts';
import { addStep, type LoopSetting, readSteps, type Step } from './store.ts';

/** Every so many steps all arms are loaded, as a reference. */
const REFERENCE_STEPS = 5;
const TIMEOUT_MS = 60_000;
/** Attempts at a load that fails. */
const ATTEMPTS = 3;

/**
 * Loads a page again and again as the closed loop chooses, on a network that changes; beside each load one of the browser's own choice,
 * in turns and with the same sequence of losses.
 *
 * @param repeats how often a load that other work disturbed is repeated
 * @throws UserError when the page does not load
 */
export async function runLoop(
  dir: string,
  source: PageSource,
  setting: LoopSetting,
  repeats: number,
  context: ProgramContext,
): Promise<Step[]> {
  const steps = await readSteps(dir, setting);
  const loop = new DecisionLoop(setting.seed);
  for (const { key, step, arm, reason, ms, predicted } of steps) {
    loop.choose(key, step);
    loop.note({ arm, reason }, step, ms, predicted);
  }
  const schedule = scheduleOf(setting.loads);
  if (steps.length >= schedule.length) return steps;
  const browsers = await Browsers.launch(source, schedule[steps.length]!, repeats, context);
  for (const [step, phase] of schedule.entries()) {
    if (step < steps.length) continue;
    const choice = loop.choose(phase.key, step);
    const load = (arm: ArmName) => browsers.load(arm, phase, setting.seed * 100_003 + step);
    // In turns, so that drift of the machine affects both alike.
    const isOwnFirst = step % 2 === 0;
    const before = isOwnFirst ? await load(choice.arm) : null;
    const natural = await load('natural');
    const own = before ?? (await load(choice.arm));
    const reference =
      step % REFERENCE_STEPS === 0 ? await loadAll(load, { natural, [choice.arm]: own }) : null;
    const predicted = choice.reason === 'first' ? loop.predictArms(own.recording!) : null;
    loop.note(choice, step, own.pltMs, predicted);
    const done: Step = {
      step,
      ...phase,
      ...choice,
      ms: own.pltMs,
      naturalMs: natural.pltMs,
      reference,
      disturbed: [own, natural].filter(({ isDisturbed }) => isDisturbed).length,
      predicted: predicted as Step['predicted'],
    };
    await addStep(dir, done);
    steps.push(done);
    context.say(
      `${step + 1} of ${schedule.length}, ${phase.network}: ${choice.arm} (${choice.reason}) ${Math.round(own.pltMs)} ms, the browser's own choice ${Math.round(natural.pltMs)} ms`,
    );
  }
  return steps;
}

async function loadAll(
  load: (arm: ArmName) => Promise<LoopLoad>,
  loaded: Partial<Record<ArmName, LoopLoad>>,
): Promise<NonNullable<Step['reference']>> {
  const times: NonNullable<Step['reference']> = {};
  for (const arm of ARMS) times[arm] = (loaded[arm] ?? (await load(arm))).pltMs;
  return times;
}

/** A load, and whether other work on the machine disturbed every attempt at it. */
type LoopLoad = Load & { isDisturbed: boolean };

/** A lab, and a browser for each arm. */
class Browsers {
  readonly #lab: Lab;
  readonly #source: PageSource;
  readonly #browsers: ReadonlyMap<ArmName, MeasuringBrowser>;
  readonly #repeats: number;
  readonly #signal: AbortSignal;

  private constructor(
    lab: Lab,
    source: PageSource,
    browsers: ReadonlyMap<ArmName, MeasuringBrowser>,
    repeats: number,
    signal: AbortSignal,
  ) {
    this.#lab = lab;
    this.#source = source;
    this.#browsers = browsers;
    this.#repeats = repeats;
    this.#signal = signal;
  }

  static async launch(
    source: PageSource,
    { network }: Phase,
    repeats: number,
    { cleanup, signal }: ProgramContext,
  ): Promise<Browsers> {
    const lab = await Lab.up({ site: source.dir, network: networkOf(profileNamed(network)), signal });
    cleanup.add('the lab', () => lab.down());
    const executablePath = await lab.wrapper(browserProgram('headless-shell'));
    const browsers = new Map<ArmName, MeasuringBrowser>();
    for (const protocol of ARMS) {
      const browser = await MeasuringBrowser.launch({
        executablePath,
        protocol,
        caSpki: lab.caSpki,
        hosts: lab.hosts,
      });
      cleanup.add(`Chromium, ${protocol}`, () => browser.close());
      browsers.set(protocol, browser);
    }
    const launched = new Browsers(lab, source, browsers, repeats, signal);
    // The first load of a process is slower.
    for (const arm of ARMS) await launched.load(arm, { key: '', network: 'fast' }, 1);
    return launched;
  }

  /** Loads the page, again if other work on the machine disturbed the load; the last attempt counts all the same. */
  async load(arm: ArmName, { network }: Phase, seed: number): Promise<LoopLoad> {
    const lab = this.#lab;
    const { site } = this.#source;
    let kept: LoopLoad | null = null;
    let reason = '';
    for (let attempt = 0; attempt < ATTEMPTS + this.#repeats; attempt++) {
      this.#signal.throwIfAborted();
      await lab.drain();
      await lab.configure(networkOf(profileNamed(network), seed));
      await lab.resetStats();
      let watch = await watchDisturbance({ lab });
      let watched: Watched | null = null;
      const load = await this.#browsers.get(arm)!.load(site.entry, {
        timeoutMs: TIMEOUT_MS,
        ...siteInitScript(site),
        onNavigation: async () => {
          watch = await watchDisturbance({ lab });
        },
        onLoadEvent: async () => {
          watched = await watch.end();
        },
      });
      this.#signal.throwIfAborted();
      if (!load.ok) {
        ({ reason } = load);
        continue;
      }
      kept = { ...load, isDisturbed: disturbedBy(watched ?? (await watch.end())).length > 0 };
      if (!kept.isDisturbed || attempt >= this.#repeats) break;
    }
    if (kept === null) throw new UserError(`${this.#source.name} on ${network} under ${arm}: ${reason}`);
    return kept;
  }
}
