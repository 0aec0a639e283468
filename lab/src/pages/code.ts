/** Bodies of scripts, stylesheets and JSON: working code, brought to an exact size. */
import type { SeededRandom } from '../random.ts';
import { identifier, productName, sentence } from './words.ts';

export const bytesOf = (text: string): number => Buffer.byteLength(text);

/**
 * `text`, then pieces from `more` while they fit into `bytes`, then spaces and a line end. Returns `text` unchanged when it is
 * not smaller than `bytes`.
 */
export function fill(text: string, bytes: number, more: () => string): string {
  let whole = text;
  let size = bytesOf(text);
  for (;;) {
    const next = more();
    const nextSize = bytesOf(next);
    if (size + nextSize > bytes) break;
    whole += next;
    size += nextSize;
  }
  return size < bytes ? `${whole}${' '.repeat(bytes - size - 1)}\n` : whole;
}

/** A function that is never called, like most bytes of a script. */
function unusedFunction(random: SeededRandom, index: number): string {
  const name = `${identifier(random)}${index}`;
  const table = Array.from({ length: random.int(6, 14) }, () => random.int(0, 9999)).join(',');
  const label = sentence(random);
  switch (random.int(0, 2)) {
    case 0:
      return `function ${name}(list,at){var steps=[${table}];for(var i=0;i<list.length;i++){if(list[i]>steps[i%steps.length]){at=at+list[i]%${random.int(3, 97)}}}return{at:at,label:${JSON.stringify(label)}}}\n`;
    case 1:
      return `function ${name}(node,state){if(!node||state.closed){return null}var key="${identifier(random)}-"+(state.index||${random.int(1, 99)});node.setAttribute("data-key",key);node.title=${JSON.stringify(label)};return[${table}].indexOf(state.index)<0?key:null}\n`;
    default:
      return `function ${name}(value){var text=String(value);while(text.length<${random.int(4, 12)}){text="0"+text}return text.replace(/(\\d)(?=(\\d{3})+$)/g,"$1,")+${JSON.stringify(label)}.slice(0,${random.int(2, 9)})}\n`;
  }
}

/**
 * A script of `bytes` bytes that does a fixed number of steps of work and then `statements`.
 *
 * @param steps multiplications on the main thread; a million take one to a few milliseconds.
 */
export function script(
  random: SeededRandom,
  name: string,
  bytes: number,
  steps: number,
  statements: string,
): string {
  const head = `/* ${name} */\n(function(){"use strict";\nvar seed=${random.int(1, 2 ** 31 - 1)};for(var i=0;i<${steps};i++){seed=Math.imul(seed^(i&255),16777619)>>>0}\n(window.__work=window.__work||{})[${JSON.stringify(name)}]=seed;\n${statements}\n`;
  const tail = '})();\n';
  let index = 0;
  return fill(head, bytes - bytesOf(tail), () => unusedFunction(random, index++)) + tail;
}

/** An ES module; imports first, otherwise as `script`. */
export function moduleScript(
  random: SeededRandom,
  name: string,
  bytes: number,
  steps: number,
  imports: string[],
  statements: string,
): string {
  const bindings = imports
    .map((url, index) => `import{seed as s${index}}from${JSON.stringify(url)};\n`)
    .join('');
  const start = imports.map((_, index) => `^s${index}`).join('');
  const head = `/* ${name} */\n${bindings}export let seed=(${random.int(1, 2 ** 31 - 1)}${start})>>>0;\nfor(let i=0;i<${steps};i++){seed=Math.imul(seed^(i&255),16777619)>>>0}\n${statements}\n`;
  let index = 0;
  return fill(head, bytes, () => unusedFunction(random, index++));
}

/** A stylesheet: `rules`, then rules that match nothing until it has `bytes` bytes. */
export function stylesheet(random: SeededRandom, name: string, bytes: number, rules: string): string {
  let index = 0;
  return fill(`/* ${name} */\n${rules}\n`, bytes, () => {
    const selector = `.u-${identifier(random).toLowerCase()}-${index++}`;
    const size = random.int(2, 48);
    return `${selector}{margin:${size}px ${random.int(0, 32)}px;padding:${random.int(0, 24)}px;font-size:${random.int(11, 32)}px;line-height:1.${random.int(2, 7)};color:#${random.int(0x100000, 0xffffff).toString(16)};border-radius:${random.int(0, 16)}px}${selector}:hover{opacity:.${random.int(5, 9)}}\n`;
  });
}

/** A JSON document `{"items": […], …}` of exactly `bytes` bytes, at least 64. */
export function json(random: SeededRandom, bytes: number): string {
  const wrap = (items: string, note: string) => `{"items":[${items}],"note":"${note}"}`;
  const items: string[] = [];
  let size = bytesOf(wrap('', ''));
  for (;;) {
    const item = JSON.stringify({
      id: random.int(1000, 99999),
      name: productName(random),
      stock: random.int(0, 60),
      text: sentence(random),
    });
    // Includes the comma and line end before it.
    const more = bytesOf(item) + (items.length === 0 ? 0 : 2);
    if (size + bytesOf(item) + 2 > bytes) break;
    items.push(item);
    size += more;
  }
  return wrap(items.join(',\n'), '.'.repeat(Math.max(0, bytes - size)));
}
