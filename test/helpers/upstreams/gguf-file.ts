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
    const bytes = padded(bytesOf(tensor.values));
    head.push(text(tensor.name), uint32(tensor.shape.length), ...tensor.shape.map(uint64), uint32(0), uint64(offset));
    data.push(bytes);
    offset += bytes.length;
  }
  return Buffer.concat([padded(Buffer.concat(head)), ...data]);
}

export const string = (value: string): Value => ({ type: 8, bytes: text(value) });
export const u32 = (value: number): Value => ({ type: 4, bytes: uint32(value) });
export const i32 = (value: number): Value => ({ type: 5, bytes: bytesOf(Int32Array.of(value)) });
export const f32 = (value: number): Value => ({ type: 6, bytes: bytesOf(Float32Array.of(value)) });
export const bool = (value: boolean): Value => ({ type: 7, bytes: Buffer.from([value ? 1 : 0]) });

/** Creates an array of values of one type, that of the first. */
export function array(values: Value[]): Value {
  const type = values[0]?.type ?? 0;
  return { type: 9, bytes: Buffer.concat([uint32(type), uint64(values.length), ...values.map(({ bytes }) => bytes)]) };
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([uint64(bytes.length), bytes]);
}

const uint32 = (value: number): Buffer => bytesOf(Uint32Array.of(value));
const uint64 = (value: number): Buffer => bytesOf(BigUint64Array.of(BigInt(value)));

/** Returns the bytes of numbers, little-endian here as in the file. */
function bytesOf({ buffer }: { buffer: ArrayBufferLike }): Buffer {
  return Buffer.from(buffer);
}

function padded(bytes: Buffer): Buffer {
  const rest = bytes.length % alignment;
  return rest === 0 ? bytes : Buffer.concat([bytes, Buffer.alloc(alignment - rest)]);
}
