/** Texts that a person reads are in the messages, not in the sources. */
import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import ts from 'typescript';
import { expect, test } from 'vitest';

const SOURCES = new URL('../../src/', import.meta.url);

/** Two words with a space between them; lists of style classes begin with `hw-`. */
const TEXT = /\p{L}{2,}[.,:;]? \p{L}{2,}/u;

/** What a user copies into a shell is the same in every language. */
const COMMAND = /^(sudo|powershell|ca) /;

/** The messages themselves, and errors about files, which are the library's. */
const EXCEPT = /^language\/(english|german)\.ts$|^devtools\/emulation\//;

/** Of reports what the panel writes: only `npm start` reports loads in the lab. */
const VIEWS = ['{popup,options,welcome,language,ui,devtools,pins/page}/**/*.ts', 'report/{client,report}.ts'];

function textsIn(path: string): string[] {
  const source = readFileSync(new URL(path, SOURCES), 'utf8');
  const texts: string[] = [];
  const visit = (node: ts.Node): void => {
    const isText =
      ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node);
    if (isText && TEXT.test(node.text) && !node.text.startsWith('hw-') && !COMMAND.test(node.text))
      texts.push(`${path}: ${node.text}`);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true));
  return texts;
}

test('views have no texts of their own', async () => {
  const texts: string[] = [];
  for await (const path of glob(VIEWS, { cwd: SOURCES.pathname }))
    if (!EXCEPT.test(path)) texts.push(...textsIn(path));
  expect(texts).toEqual([]);
});
