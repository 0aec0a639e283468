import type { Author } from './author.ts';

/** Accepted insertions after which the parser has not been seen for certain. */
const DOUBTFUL_LIMIT = 16;

/** Records of one delivery that are searched for signs of the parser, which are frequent in its own. */
const INSPECTED_COUNT = 64;

interface Accepted {
  last: Node;
  author: Author;
}

/**
 * Follows the HTML parser through the document, to recognise what it inserts: always at the end of an element that is still open,
 * so behind everything that it has inserted before and in front of nothing (HTML section 13.2.6.1, foster parenting aside).
 */
export class ParserPosition {
  /** The last node that is certainly the parser's. */
  #certain: Node | null = null;
  /** Insertions since then that may be a script's at the same place, oldest first. */
  #doubtful: Accepted[] = [];
  /** External script that the parser waits for. */
  #blockedOn: HTMLScriptElement | null = null;

  /** Sets the author of the insertions of one task, and corrects those of earlier ones that the parser cannot have made. */
  judge(records: MutationRecord[], author: Author): void {
    const first = records.find(isInsertion);
    const newest = records.findLast(isInsertion);
    if (!first || !newest || this.#blockedOn || first.nextSibling) return;
    const isCertain = [...records.slice(0, INSPECTED_COUNT), newest].some(showsMarkup);
    const last = this.#doubtful.at(-1)?.last ?? this.#certain;
    if (!isOpen(first.target, last) && !(isCertain && this.#goBack(first))) return;
    author.by = 'parser';
    this.#accept({ last: newest.addedNodes[newest.addedNodes.length - 1]!, author }, isCertain);
  }

  /** To be called when an external script has run or has failed. */
  endScript(script: EventTarget): void {
    if (script === this.#blockedOn) this.#blockedOn = null;
  }

  /** Gives insertions to scripts that cannot be the parser's, because it now inserts in front of them. */
  #goBack({ target, addedNodes }: MutationRecord): boolean {
    const isBehind = this.#certain && followsInTree(addedNodes[0]!, this.#certain);
    const at = this.#doubtful.findLastIndex(({ last }) => isOpen(target, last));
    if (at < 0 && !isBehind) return false;
    for (const { author } of this.#doubtful.splice(at + 1)) author.by = 'script';
    return true;
  }

  #accept(accepted: Accepted, isCertain: boolean): void {
    const { last } = accepted;
    if (isCertain || this.#doubtful.length === DOUBTFUL_LIMIT) {
      this.#certain = last;
      this.#doubtful = [];
    } else {
      this.#doubtful.push(accepted);
    }
    if (last instanceof HTMLScriptElement && blocksParser(last)) this.#blockedOn = last;
  }
}

function isOpen(target: Node, last: Node | null): boolean {
  return last === null || target.contains(last);
}

function followsInTree(node: Node, other: Node): boolean {
  return (other.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;
}

function isInsertion({ addedNodes }: MutationRecord): boolean {
  return addedNodes.length > 0;
}

/** Whether scripts rarely insert such a node: text by itself, or a script that does not run in any order. */
function showsMarkup({ addedNodes: [node] }: MutationRecord): boolean {
  return node?.nodeType === Node.TEXT_NODE || (node instanceof HTMLScriptElement && !node.async);
}

/** Whether an element is a classic script for this browser. */
export function isClassicScript({ type, noModule }: HTMLScriptElement): boolean {
  return !noModule && /^$|^(text|application)\/(x-)?(java|ecma)script$/i.test(type);
}

function blocksParser(script: HTMLScriptElement): boolean {
  return script.src !== '' && !script.async && !script.defer && isClassicScript(script);
}
