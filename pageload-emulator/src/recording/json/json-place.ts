/** Keys and indices from the top level down. */
type Path = (string | number)[];

/**
 * Finds where `text` stops being JSON, as a path: `log.entries[57].response` for a file that was cut off there.
 *
 * @param end index in `text` of the error, or its length
 * @returns the path of the innermost value that had begun there
 */
export function placeInJson(text: string, end: number): Path {
  const path: Path = [];
  /** Per open bracket whether it is an array's. */
  const arrays: boolean[] = [];
  let expectsKey = false;
  const stop = Math.min(end, text.length);
  for (let at = 0; at < stop; at++) {
    switch (text[at]) {
      case '"': {
        const close = endOfString(text, at, stop);
        if (expectsKey && close < stop) {
          path[path.length - 1] = text.slice(at + 1, close);
          expectsKey = false;
        }
        at = close;
        break;
      }
      case '{':
        arrays.push(false);
        path.push('');
        expectsKey = true;
        break;
      case '[':
        arrays.push(true);
        path.push(0);
        break;
      case '}':
      case ']':
        arrays.pop();
        path.pop();
        expectsKey = false;
        break;
      case ',':
        if (arrays.at(-1) === true) path[path.length - 1] = (path.at(-1) as number) + 1;
        else expectsKey = arrays.length > 0;
        break;
    }
  }
  return path.filter((step) => step !== '');
}

function endOfString(text: string, open: number, stop: number): number {
  let at = open + 1;
  while (at < stop && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}
