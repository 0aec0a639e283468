import { ShownError } from '../../language/shown-error.ts';
import { type PlainKey, t } from '../../language/translate.ts';
import { createPacScript } from './pac.ts';
import type { Lifting, Route, Steering } from './steering.ts';

/** Not for private windows: the extension does not run there, so that nothing would be known of what pins do to their pages. */
const SCOPE = 'regular_only';

/** Routes Chromium by a PAC script, which replaces all proxy settings and persists across browser restarts. */
export class ChromiumSteering implements Steering {
  readonly #onLost: (why: PlainKey) => void;
  #route: Route | null = null;
  #serial = Date.now();

  constructor(onLost: (why: PlainKey) => void) {
    this.#onLost = onLost;
  }

  async findObstacle(): Promise<PlainKey | null> {
    const { levelOfControl, value } = await chrome.proxy.settings.get({});
    switch (levelOfControl) {
      case 'controlled_by_this_extension':
        return null;
      case 'controlled_by_other_extensions':
        return 'steeringOtherExtension';
      case 'controllable_by_this_extension':
        // The system's proxy settings are visible to the helper only.
        return value.mode === 'system' || value.mode === 'direct' ? null : 'steeringOtherProxy';
      default:
        return 'steeringFixed';
    }
  }

  async setRoute(route: Route, { keepsAlternatives = false }: Lifting = {}): Promise<void> {
    const obstacle = await this.findObstacle();
    if (obstacle) throw new ShownError(() => t(obstacle));
    const isFreed = this.#route !== null && freesOrigins(this.#route, route);
    const wasOff = this.#route === null;
    this.#route = route;
    if (wasOff) chrome.proxy.settings.onChange.addListener(this.#watch);
    const data = createPacScript(route, ++this.#serial);
    await chrome.proxy.settings.set({ value: { mode: 'pac_script', pacScript: { data } }, scope: SCOPE });
    if (isFreed && !keepsAlternatives) await resetBrokenAlternatives();
  }

  async clearRoute({ keepsAlternatives = false }: Lifting = {}): Promise<void> {
    if (!('proxy' in chrome)) return;
    const wasOn = this.#route !== null;
    this.#route = null;
    if (wasOn) chrome.proxy.settings.onChange.removeListener(this.#watch);
    const { levelOfControl } = await chrome.proxy.settings.get({});
    const isOurs = levelOfControl === 'controlled_by_this_extension';
    // Also when another extension overrides our settings: ours would take effect again once it is removed.
    if (wasOn || isOurs) {
      await chrome.proxy.settings.clear({ scope: SCOPE });
      if (!keepsAlternatives) await resetBrokenAlternatives();
    }
  }

  readonly #watch = ({ levelOfControl }: { levelOfControl: string }): void => {
    if (this.#route === null || levelOfControl === 'controlled_by_this_extension') return;
    this.#onLost('steeringOtherExtension');
  };
}

/** Whether origins are routed directly that were not before. Exceptions are not: they were never reached otherwise. */
function freesOrigins(before: Route, after: Route): boolean {
  if (after.everyOrigin) {
    const { leftSites } = after.everyOrigin;
    return leftSites.some((site) => before.everyOrigin?.leftSites.includes(site) === false);
  }
  return before.everyOrigin !== undefined || before.origins.some((origin) => !after.origins.includes(origin));
}

/**
 * Chromium marks HTTP/3 as broken at origins that it reached through a proxy: for five minutes, and for twice as long whenever it then
 * finds it broken again. Clearing cache entries newer than now removes no entry, but resets these marks, and has it forget at all
 * origins that they offer HTTP/3, so that the next visit of each begins over HTTP/2. Restricted to some origins it resets nothing
 * (`broken-alternatives.drawn.integration.test.ts`). So pins of one load, which leave a mark of five minutes, end without.
 */
async function resetBrokenAlternatives(): Promise<void> {
  if (!('browsingData' in chrome)) return;
  await chrome.browsingData.remove({ since: Date.now() }, { cache: true });
}
