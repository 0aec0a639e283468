import { expectedQuantity, type Quantity, readQuantity } from '@hopwise/contract';
import { InputError, shown } from '../util/input-error.ts';

/** Makes a parser of quantities within bounds, which throws InputError saying what was expected. */
export function quantityBetween(
  quantity: Quantity,
  bounds: readonly [min: number, max: number],
): (text: string) => number {
  return (text) => {
    const value = readQuantity(text, quantity);
    if (value >= bounds[0] && value <= bounds[1]) return value;
    throw new InputError(`expected ${expectedQuantity(quantity, bounds)}, got ${shown(text)}`);
  };
}
