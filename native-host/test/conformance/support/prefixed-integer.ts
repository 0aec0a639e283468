/** A number after the bits that `first` has (RFC 7541 section 5.1, for QPACK RFC 9204 section 4.1.1). */
export function prefixed(first: number, bits: number, value: number): Buffer {
  const most = 2 ** bits - 1;
  if (value < most) return Buffer.from([first | value]);
  const bytes = [first | most];
  let left = value - most;
  for (; left >= 128; left = Math.floor(left / 128)) bytes.push((left % 128) | 128);
  return Buffer.from([...bytes, left]);
}
