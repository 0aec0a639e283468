import { expect, test } from 'vitest';
import { removeComments } from '../remove-comments.mjs';

test('removes comments inside expressions, and keeps their lines', () => {
  const code = 'call(/* first */ 1,\n  // second\n  2, {\n    /**\n     * third\n     */\n    a: 3,\n  });\n';
  expect(removeComments(code)).toBe('call(  1,\n   \n  2, {\n    \n\n\n    a: 3,\n  });\n');
});

test.each([
  ['a += 1 +/* sign */+ b;\n', 'a += 1 + + b;\n'],
  ['const f = () => { return/* why */b };\n', 'const f = () => { return b };\n'],
  ['const half = a / 2/* of *// b;\n', 'const half = a / 2 / b;\n'],
  ['const none = [/* nothing */];\n', 'const none = [ ];\n'],
  ['const text = `$' + '{/* in */ a} /* kept */`;\n', 'const text = `$' + '{  a} /* kept */`;\n'],
])('leaves %j what it is', (code, expected) => {
  expect(removeComments(code)).toBe(expected);
});

test('refuses what it cannot read', () => {
  expect(() => removeComments("const text = 'no end /* of it\n")).toThrow(SyntaxError);
});

test('keeps what only looks like a comment', () => {
  const code = [
    "const address = 'https://www.example.org/*';",
    'const text = `// $' + '{address} /* */`;',
    'const pattern = /\\/\\/.*[/*]/;',
    '',
  ].join('\n');
  expect(removeComments(code)).toBe(code);
});

test('keeps licences, names of bundled files and the place of the source map', () => {
  const code = [
    '// extension/src/ui/dom.ts',
    'const a = 1;',
    '/*! Copyright of its authors */',
    'const b = [',
    '  /** @license MIT */',
    '  2,',
    '];',
    '//# sourceMappingURL=popup.js.map',
    '',
  ].join('\n');
  expect(removeComments(code)).toBe(code);
});
