import { parse } from 'acorn';

/** What is said for readers of the bundle itself, or has to stay: names of bundled files, licences, the place of the source map. */
const KEPT = /^\/\/ \S+\.\w+$|^\/[/*]!|@license|@preserve|sourceMappingURL=/;

/**
 * Removes comments from a bundle, of which esbuild keeps those inside expressions. Lines stay where they are, as source maps count them.
 *
 * @param {string} code a module of JavaScript
 * @returns {string}
 * @throws SyntaxError where it is none
 */
export function removeComments(code) {
  /** @type {import('acorn').Comment[]} */
  const comments = [];
  parse(code, { ecmaVersion: 'latest', sourceType: 'module', onComment: comments });
  let kept = '';
  let from = 0;
  for (const { start, end } of comments) {
    const comment = code.slice(start, end);
    if (KEPT.test(comment)) continue;
    // As a comment does, a blank or the ends of its lines part what stands on its two sides.
    kept += code.slice(from, start) + (comment.replaceAll(/[^\n]+/g, '') || ' ');
    from = end;
  }
  return kept + code.slice(from);
}
