import ts from 'typescript';

/** What is said for readers of the bundle itself, or has to stay: names of bundled files, licences, the place of the source map. */
const KEPT = /^\/\/ \S+\.\w+$|^\/[/*]!|@license|@preserve|sourceMappingURL=/;

/**
 * Removes comments from a bundle, of which esbuild keeps those inside expressions. Lines stay where they are, as source maps count them.
 *
 * @param {string} code JavaScript
 * @returns {string}
 */
export function removeComments(code) {
  /** Ends of comments by where they begin: neighbouring nodes share theirs. */
  const ends = new Map();
  const collect = (node) => {
    for (const position of [node.pos, node.end]) {
      const before = ts.getTrailingCommentRanges(code, position) ?? [];
      const after = ts.getLeadingCommentRanges(code, position) ?? [];
      for (const { pos, end } of [...before, ...after]) ends.set(pos, end);
    }
    node.forEachChild(collect);
  };
  collect(ts.createSourceFile('bundle.js', code, ts.ScriptTarget.Latest));
  let kept = '';
  let from = 0;
  for (const [start, end] of [...ends].sort(([a], [b]) => a - b)) {
    const comment = code.slice(start, end);
    if (KEPT.test(comment)) continue;
    kept += code.slice(from, start) + comment.replaceAll(/[^\n]+/g, '');
    from = end;
  }
  return kept + code.slice(from);
}
