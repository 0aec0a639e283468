/** `test.use({ page: 'shop' })`, beside Playwright's own fixture `page`. */
import type { Fixtures, TestType } from '@playwright/test';

type WithPageName<F> = Omit<F, 'page'> & { page?: string | (F extends { page?: infer P } ? P : never) };

/** Playwright's `test`, whose `use` takes the name of a page to replay as `page`. */
export type ReplayTest<T extends object, W extends object> = {
  use(options: WithPageName<Fixtures<object, object, T, W>>): void;
  extend<T1 extends object, W1 extends object = object>(
    fixtures: Fixtures<T1, W1, T, W>,
  ): ReplayTest<T & T1, W & W1>;
} & TestType<T, W>;

/**
 * Playwright would hand a string that is given as `page` to the tests in place of their `Page`. `use` gives it to the
 * option `replay` instead. Tests made by `extend` keep that; those of `mergeTests` do not, and take `replay`.
 *
 * The place that Playwright names in messages about a wrong `use` or `extend` is then in this file.
 */
export function withPageOption<T extends { replay: string }, W extends object>(
  test: TestType<T, W>,
): ReplayTest<T, W> {
  const { use, extend } = test;
  const takesName = test as ReplayTest<T, W>;
  takesName.use = (options: WithPageName<Fixtures<object, object, T, W>>) => {
    const { page, ...others } = options;
    const fixtures = typeof page === 'string' ? { ...others, replay: page } : options;
    use(fixtures as Fixtures<object, object, T, W>);
  };
  takesName.extend = <T1 extends object, W1 extends object = object>(fixtures: Fixtures<T1, W1, T, W>) =>
    withPageOption(extend<T1, W1>(fixtures));
  return takesName;
}
