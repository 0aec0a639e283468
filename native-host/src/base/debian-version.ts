/**
 * The order of Debian's package versions (Debian Policy, section 5.6.12; `deb-version(7)`): negative when `a` is older than `b`,
 * positive when it is newer, 0 when they are equal.
 */
export function compareDebianVersions(a: string, b: string): number {
  const [first, second] = [split(a), split(b)];
  return (
    first.epoch - second.epoch ||
    compareParts(first.upstream, second.upstream) ||
    compareParts(first.revision, second.revision)
  );
}

function split(version: string): { epoch: number; upstream: string; revision: string } {
  const [, epoch = '0', rest = ''] = /^(?:(\d+):)?(.*)$/s.exec(version) ?? [];
  const hyphen = rest.lastIndexOf('-');
  return {
    epoch: Number(epoch),
    upstream: hyphen < 0 ? rest : rest.slice(0, hyphen),
    revision: hyphen < 0 ? '' : rest.slice(hyphen + 1),
  };
}

/** Alternates between runs without digits and numbers, each of which may be empty. */
function compareParts(a: string, b: string): number {
  let [left, right] = [a, b];
  while (left !== '' || right !== '') {
    const [leftText, rightText] = [/^\D*/.exec(left)![0], /^\D*/.exec(right)![0]];
    const byText = compareText(leftText, rightText);
    if (byText !== 0) return byText;
    left = left.slice(leftText.length);
    right = right.slice(rightText.length);
    const [leftDigits, rightDigits] = [/^\d*/.exec(left)![0], /^\d*/.exec(right)![0]];
    const byNumber = Number(leftDigits) - Number(rightDigits);
    if (byNumber !== 0) return byNumber;
    left = left.slice(leftDigits.length);
    right = right.slice(rightDigits.length);
  }
  return 0;
}

/** A tilde sorts before everything, the end included; letters sort before other characters. */
function compareText(a: string, b: string): number {
  for (let at = 0; at < Math.max(a.length, b.length); at += 1) {
    const order = rank(a[at]) - rank(b[at]);
    if (order !== 0) return order;
  }
  return 0;
}

function rank(char: string | undefined): number {
  if (char === '~') return -1;
  if (char === undefined) return 0;
  return /[A-Za-z]/.test(char) ? char.charCodeAt(0) : char.charCodeAt(0) + 256;
}
