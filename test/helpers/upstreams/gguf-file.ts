const alignment = 32;

/** The kinds of tokens in a vocabulary. */
export const tokenType = { normal: 1, unknown: 2, control: 3, userDefined: 4, byte: 6 };

export interface Tensor {
  name: string;
  /** Innermost dimension first. */
  shape: number[];
  values: Float32Array;
}

interface Value {
  type: number;
  bytes: Buffer;
}

export type Fact = [key: string, value: Value];

/** Writes a model's file: the GGUF specification, version 3 (ggml's docs/gguf.md). */
export function writeGguf(facts: readonly Fact[], tensors: readonly Tensor[]): Buffer {
  const head = [Buffer.from('GGUF'), uint32(3), uint64(tensors.length), uint64(facts.length)];
  for (const [key, { type, bytes }] of facts) head.push(text(key), uint32(type), bytes);
  let offset = 0;
  const data: Buffer[] = [];
  for (const tensor of tensors) {
    const bytes = padded(Buffer.from(tensor.values.buffer));
    head.push(text(tensor.name), uint32(tensor.shape.length), ...tensor.shape.map(uint64), uint32(0), uint64(offset));
    data.push(bytes);
    offset += bytes.length;
  }
  return Buffer.concat([padded(Buffer.concat(head)), ...data]);
}

export function string(value: string): Value {
  return { type: 8, bytes: text(value) };
}

export function u32(value: number): Value {
  return { type: 4, bytes: uint32(value) };
}

export function i32(value: number): Value {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return { type: 5, bytes };
}

export function f32(value: number): Value {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return { type: 6, bytes };
}

export function bool(value: boolean): Value {
  return { type: 7, bytes: Buffer.from([value ? 1 : 0]) };
}

/** An array of values of one type, that of the first. */
export function array(values: Value[]): Value {
  const type = values[0]?.type ?? 0;
  return { type: 9, bytes: Buffer.concat([uint32(type), uint64(values.length), ...values.map(({ bytes }) => bytes)]) };
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([uint64(bytes.length), bytes]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function uint64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

function padded(bytes: Buffer): Buffer {
  const rest = bytes.length % alignment;
  return rest === 0 ? bytes : Buffer.concat([bytes, Buffer.alloc(alignment - rest)]);
}
