import { runInNewContext } from 'node:vm';
import { createPacScript } from '../../../../extension/src/pins/worker/pac.ts';
import { type FuzzTarget, hold, json, parsed } from '../target.ts';

interface PacInput {
  port: number;
  origins: string[];
  trials: string[];
}

/** Evaluates the script with a sound route besides, whose answers nothing may change. */
export const pac: FuzzTarget = {
  title: 'what a PAC script is made of',
  input: 'json',
  dictionary: ['https://', "'", '"', '\\u2028', '];', '*/', '__proto__', ':443', '[::1]'],
  seeds: () => [
    json({
      port: 8080,
      origins: ['https://a.test', 'https://b.test:8443'],
      trials: ['https://a.test:49151'],
    }),
  ],
  open: () => ({
    run(input) {
      const route = routeOf(input);
      if (route === null) return;
      const script = parsed(() => createPacScript(route, 1), RangeError);
      if (script === null) return;
      const find = runInNewContext(`${script};FindProxyForURL`, {}, { timeout: 1_000 }) as (
        url: string,
      ) => string;
      const proxy = `PROXY 127.0.0.1:${route.port}`;
      for (const origin of [...route.origins, ...route.trials]) {
        const expected = route.trials.includes(origin) ? proxy : `${proxy}; DIRECT`;
        hold(find(`${origin}/`) === expected, 'pinned origins go through the proxy');
      }
      const other = 'https://not-pinned.test';
      if (!route.origins.includes(other) && !route.trials.includes(other)) {
        hold(find(`${other}/`) === 'DIRECT', 'other origins go directly');
      }
    },
  }),
};

/** @returns null for what no caller can pass; texts that are no origins are passed, to be refused. */
function routeOf(input: Uint8Array): PacInput | null {
  try {
    const { port, origins, trials } = JSON.parse(new TextDecoder().decode(input));
    const isTexts = (value: unknown) =>
      Array.isArray(value) && value.every((text) => typeof text === 'string');
    if (typeof port !== 'number' || !isTexts(origins) || !isTexts(trials)) return null;
    return { port, origins, trials };
  } catch {
    return null;
  }
}
