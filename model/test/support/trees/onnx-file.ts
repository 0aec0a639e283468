import { InputError } from '@hopwise/pageload-emulator';
import { PbfReader } from 'pbf';

/** An attribute of an ONNX node: of its values one list is filled, single values included. */
interface OnnxAttribute {
  floats: number[];
  ints: number[];
  strings: string[];
}

/** What an ONNX file of one node holds. */
export interface OnnxFile {
  /** Type of the node's operator. */
  operator: string;
  attributes: ReadonlyMap<string, OnnxAttribute>;
  /** `metadata_props`, which follow the graph in the file. */
  metadata: ReadonlyMap<string, string>;
}

/**
 * Reads an ONNX file whose graph is one node (`onnx.proto` of ONNX 1.23; field numbers are those of its messages).
 *
 * @throws InputError where the bytes are not such a file, for instance because they are cut off
 */
export function readOnnx(bytes: Uint8Array): OnnxFile {
  const nodes: Node[] = [];
  const metadata = new Map<string, string>();
  try {
    new PbfReader(bytes).readFields((field, _, reader) => {
      if (field === MODEL_GRAPH) nodes.push(...readWhole(reader, bytes, readGraph, []));
      if (field === MODEL_METADATA) {
        const { key, value } = readWhole(reader, bytes, readEntry, { key: '', value: '' });
        metadata.set(key, value);
      }
    }, null);
  } catch (error) {
    throw new InputError(`model: expected an ONNX file, ${error instanceof Error ? error.message : error}`);
  }
  const [node] = nodes;
  if (node === undefined || nodes.length > 1) {
    throw new InputError(`model: expected an ONNX file with one node, got ${nodes.length} nodes`);
  }
  return { ...node, metadata };
}

interface Node {
  operator: string;
  attributes: Map<string, OnnxAttribute>;
}

const MODEL_GRAPH = 7;
const MODEL_METADATA = 14;
const GRAPH_NODE = 1;
const NODE_OPERATOR = 4;
const NODE_ATTRIBUTE = 5;
const ENTRY_KEY = 1;
const ENTRY_VALUE = 2;

type ReadField<T> = (field: number, result: T, reader: PbfReader) => void;

/** Reads a message of the file; the library itself reads on behind the end of its input. */
function readWhole<T>(reader: PbfReader, { length }: Uint8Array, readField: ReadField<T>, result: T): T {
  const end = reader.readVarint() + reader.pos;
  if (end > length) throw new RangeError(`${end - length} bytes are missing at its end`);
  return reader.readFields(readField, result, end);
}

const readGraph: ReadField<Node[]> = (field, nodes, reader) => {
  if (field === GRAPH_NODE) nodes.push(reader.readMessage(readNode, { operator: '', attributes: new Map() }));
};

const readNode: ReadField<Node> = (field, node, reader) => {
  if (field === NODE_OPERATOR) node.operator = reader.readString();
  if (field !== NODE_ATTRIBUTE) return;
  const attribute = reader.readMessage(readAttribute, { name: '', floats: [], ints: [], strings: [] });
  node.attributes.set(attribute.name, attribute);
};

const readAttribute: ReadField<OnnxAttribute & { name: string }> = (field, attribute, reader) => {
  switch (field) {
    case 1:
      attribute.name = reader.readString();
      break;
    case 2:
      attribute.floats.push(reader.readFloat());
      break;
    case 3:
      attribute.ints.push(reader.readVarint(true));
      break;
    case 4:
    case 9:
      attribute.strings.push(reader.readString());
      break;
    case 7:
      reader.readPackedFloat(attribute.floats);
      break;
    case 8:
      reader.readPackedVarint(attribute.ints, true);
  }
};

const readEntry: ReadField<{ key: string; value: string }> = (field, entry, reader) => {
  if (field === ENTRY_KEY) entry.key = reader.readString();
  if (field === ENTRY_VALUE) entry.value = reader.readString();
};
