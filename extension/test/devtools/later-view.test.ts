import { Window } from 'happy-dom';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { LaterView as View } from '../../src/devtools/later-view.ts';

type Shown = { element: HTMLElement; close: () => void };
let LaterView: typeof View<Shown, string>;

beforeEach(async () => {
  vi.stubGlobal('document', new Window().document);
  ({ LaterView } = await import('../../src/devtools/later-view.ts'));
});
afterEach(() => vi.unstubAllGlobals());

const make = (text: string): Shown => {
  const element = document.createElement('p');
  element.textContent = text;
  return { element, close: vi.fn() };
};

test('takes its place, which is empty until then, when its code is there', async () => {
  let resolve = (_code: string) => {};
  const promise = new Promise<string>((done) => {
    resolve = done;
  });
  const onMade = vi.fn();
  const later = new LaterView(promise, make, onMade);
  document.body.append(later.element);
  expect(document.body.textContent).toBe('');
  expect(later.view).toBe(null);
  resolve('graph');
  await vi.waitFor(() => expect(onMade).toHaveBeenCalledTimes(1));
  expect(document.body.children).toHaveLength(1);
  expect(document.body.firstElementChild).toBe(later.view!.element);
  expect(later.element).toBe(later.view!.element);
  later.close();
  expect(later.view!.close).toHaveBeenCalledTimes(1);
});

test('is not made any more once it is closed', async () => {
  let resolve = (_code: string) => {};
  const promise = new Promise<string>((done) => {
    resolve = done;
  });
  const makeOnce = vi.fn(make);
  const later = new LaterView(promise, makeOnce);
  later.close();
  resolve('graph');
  await promise;
  await Promise.resolve();
  expect(makeOnce).not.toHaveBeenCalled();
});

test('says what to do where its code is gone', async () => {
  const later = new LaterView(Promise.reject(new Error('404')), make);
  await vi.waitFor(() =>
    expect(later.element.textContent).toBe(
      'This view could not be loaded: hopwise has been updated. Close DevTools and open them again.',
    ),
  );
});
