import { InputError } from '@hopwise/pageload-emulator';
import type { OnnxFile } from './onnx-file.ts';

/** Feature of a leaf. */
const LEAF = -1;

/**
 * Boosted regression trees, as ONNX's operator TreeEnsembleRegressor (ai.onnx.ml 1) computes them: a row descends each tree to a leaf,
 * and the leaves' values add up. Nodes of all trees are in one array each.
 */
export class TreeEnsemble {
  readonly #baseValue: number;
  readonly #roots: Int32Array;
  /** Column that a node compares, or `LEAF`. */
  readonly #features: Int32Array;
  /** Threshold of a node, value of a leaf. */
  readonly #values: Float32Array;
  readonly #below: Int32Array;
  readonly #others: Int32Array;
  readonly #missing: Int32Array;

  /**
   * @param featureCount columns of the rows
   * @throws InputError where the file is not such an ensemble, or its trees lead nowhere
   */
  constructor(file: OnnxFile, featureCount: number) {
    const table = readTable(file);
    const { treeIds, nodeIds, modes } = table;
    const indices = new Map(treeIds.map((tree, index) => [`${tree}/${nodeIds[index]}`, index]));
    this.#baseValue = table.baseValue;
    this.#roots = Int32Array.from(
      [...treeIds.keys()].filter((index) => treeIds[index] !== treeIds[index - 1]),
    );
    this.#features = Int32Array.from(modes, (mode, index) =>
      mode === 'LEAF' ? LEAF : table.features[index]!,
    );
    this.#values = Float32Array.from(table.thresholds);
    for (const [index, weight] of table.targetWeights.entries()) {
      const leaf = indices.get(`${table.targetTreeIds[index]}/${table.targetNodeIds[index]}`);
      if (leaf === undefined || this.#features[leaf] !== LEAF)
        throw damaged('a value that belongs to no leaf');
      this.#values[leaf] = weight;
    }

    const childOf = (children: readonly number[]) =>
      Int32Array.from(children, (child, index) => {
        if (modes[index] === 'LEAF') return index;
        const found = indices.get(`${treeIds[index]}/${child}`);
        // Children follow their parents, so that every row comes to a leaf.
        if (found === undefined || found <= index) throw damaged(`node ${nodeIds[index]} without a child`);
        return found;
      });
    this.#below = childOf(table.trueIds);
    this.#others = childOf(table.falseIds);
    this.#missing = this.#below.map((child, index) =>
      table.missingTracksTrue[index] ? child : this.#others[index]!,
    );
    const unknown = this.#features.find((feature) => feature < LEAF || feature >= featureCount);
    if (unknown !== undefined) throw damaged(`feature ${unknown}, expected fewer than ${featureCount}`);
  }

  /** The sum of the trees for a row; NaN stands for a missing feature. In single precision, as XGBoost adds. */
  predict(row: Float32Array): number {
    let sum = this.#baseValue;
    for (const root of this.#roots) sum = Math.fround(sum + this.#values[this.#leafOf(root, row)]!);
    return sum;
  }

  #leafOf(root: number, row: Float32Array): number {
    let node = root;
    while (this.#features[node] !== LEAF) {
      const value = row[this.#features[node]!]!;
      if (Number.isNaN(value)) node = this.#missing[node]!;
      else node = value < this.#values[node]! ? this.#below[node]! : this.#others[node]!;
    }
    return node;
  }
}

function damaged(what: string): InputError {
  return new InputError(`model: expected whole trees, got ${what}`);
}

/** The operator's attributes: columns with a value for each node, and for each leaf. */
interface NodeTable {
  baseValue: number;
  treeIds: number[];
  nodeIds: number[];
  modes: string[];
  features: number[];
  thresholds: number[];
  trueIds: number[];
  falseIds: number[];
  missingTracksTrue: number[];
  targetTreeIds: number[];
  targetNodeIds: number[];
  targetWeights: number[];
}

function readTable({ operator, attributes }: OnnxFile): NodeTable {
  if (operator !== 'TreeEnsembleRegressor') {
    throw new InputError(
      `model: expected the operator TreeEnsembleRegressor, got ${JSON.stringify(operator)}`,
    );
  }
  const ints = (name: string) => attributes.get(name)?.ints ?? [];
  const floats = (name: string) => attributes.get(name)?.floats ?? [];
  const strings = (name: string) => attributes.get(name)?.strings ?? [];
  expectOnly('n_targets', ints('n_targets'), [1]);
  expectOnly('post_transform', strings('post_transform'), ['NONE']);
  expectOnly('aggregate_function', strings('aggregate_function'), ['SUM']);
  expectOnly('nodes_modes', strings('nodes_modes'), ['LEAF', 'BRANCH_LT']);
  const table: NodeTable = {
    baseValue: Math.fround(floats('base_values')[0] ?? 0),
    treeIds: ints('nodes_treeids'),
    nodeIds: ints('nodes_nodeids'),
    modes: strings('nodes_modes'),
    features: ints('nodes_featureids'),
    thresholds: floats('nodes_values'),
    trueIds: ints('nodes_truenodeids'),
    falseIds: ints('nodes_falsenodeids'),
    missingTracksTrue: ints('nodes_missing_value_tracks_true'),
    targetTreeIds: ints('target_treeids'),
    targetNodeIds: ints('target_nodeids'),
    targetWeights: floats('target_weights'),
  };
  const { baseValue, targetTreeIds, targetNodeIds, targetWeights, ...nodes } = table;
  for (const group of [Object.values(nodes), [targetTreeIds, targetNodeIds, targetWeights]]) {
    if (group.some(({ length }) => length === 0 || length !== group[0]!.length)) {
      throw damaged('lists of nodes that differ in length');
    }
  }
  return table;
}

function expectOnly(name: string, values: readonly unknown[], known: readonly unknown[]): void {
  const other = values.find((value) => !known.includes(value));
  if (other !== undefined) {
    throw new InputError(`model: ${name}: expected ${known.join(' or ')}, got ${JSON.stringify(other)}`);
  }
}
