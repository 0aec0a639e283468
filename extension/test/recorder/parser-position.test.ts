// @vitest-environment happy-dom
import { beforeEach, expect, test } from 'vitest';
import type { Author } from '../../src/recorder/author.ts';
import { ParserPosition } from '../../src/recorder/parser-position.ts';

let position: ParserPosition;
beforeEach(() => {
  position = new ParserPosition();
  document.body.innerHTML = '';
});

/** Appends nodes, or inserts them before another, and judges them as of one task. */
function insert(parent: Element, nodes: Node[], before: Node | null = null): Author {
  const author: Author = { by: 'script', scriptUrl: null, sinceMs: 0 };
  for (const node of nodes) parent.insertBefore(node, before);
  const records = nodes.map((node, index) => ({
    target: parent,
    addedNodes: [node],
    nextSibling: nodes[index + 1] ? null : before,
  }));
  position.judge(records as unknown as MutationRecord[], author);
  return author;
}

const make = (name: string) => document.createElement(name);
const text = () => document.createTextNode('\n');

test('what is appended to open elements is the parser’s', () => {
  const main = make('main');
  expect(insert(document.body, [text(), main])).toMatchObject({ by: 'parser' });
  expect(insert(main, [make('img')])).toMatchObject({ by: 'parser' });
  expect(insert(document.body, [make('img')])).toMatchObject({ by: 'parser' });
});

test('what is inserted in front of something, or into a closed element, is a script’s', () => {
  const [first, second] = [make('div'), make('div')];
  insert(document.body, [first, text(), second]);
  expect(insert(document.body, [make('img')], second)).toMatchObject({ by: 'script' });
  expect(insert(first, [make('img')])).toMatchObject({ by: 'script' });
  expect(insert(second, [make('img')])).toMatchObject({ by: 'parser' });
});

test('when the parser goes on in front of insertions, they were a script’s', () => {
  const main = make('main');
  insert(document.body, [text(), main]);
  const doubtful = [insert(document.body, [make('img')]), insert(document.body, [make('img')])];
  expect(doubtful.map(({ by }) => by)).toEqual(['parser', 'parser']);
  expect(insert(main, [make('img'), text()])).toMatchObject({ by: 'parser' });
  expect(doubtful.map(({ by }) => by)).toEqual(['script', 'script']);
});

test('while the parser waits for a script, insertions are a script’s', () => {
  const script = document.createElement('script');
  for (const [name, value] of Object.entries({ src: 'https://page.test/a.js', async: false, type: '' })) {
    Object.defineProperty(script, name, { value });
  }
  insert(document.body, [text(), script]);
  expect(insert(document.body, [make('img')])).toMatchObject({ by: 'script' });
  position.endScript(script);
  expect(insert(document.body, [make('img')])).toMatchObject({ by: 'parser' });
});
