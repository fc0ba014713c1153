import { seededRandom } from '../seeded-random.ts';
import { array, bool, f32, i32, string, tokenType, u32, writeGguf, type Fact, type Tensor } from './gguf-file.ts';

const width = 32;
const feedForward = 64;
const context = 512;

/** How a server pools the outputs of a model's tokens: it takes that of the first, and its classifier turns it into a score. */
const poolByRank = 4;

const letters = Array.from({ length: 26 }, (_, at) => String.fromCharCode(97 + at));
const special = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]'];

/**
 * Creates a model that ranks documents on the spot: BERT architecture, one layer, random weights from a fixed seed. Its scores mean
 * nothing, but everything around them is real.
 */
export function makeRankingGguf(): Buffer {
  // A letter that begins a word, and one within it.
  const tokens = [...special, ...letters.map((letter) => `\u2581${letter}`), ...letters];
  const kinds = tokens.map((token) => (special.includes(token) ? tokenType.control : tokenType.normal));
  const facts: Fact[] = [
    ['general.architecture', string('bert')],
    ['general.name', string('Tiny Ranker')],
    ['general.file_type', u32(0)],
    ['bert.context_length', u32(context)],
    ['bert.embedding_length', u32(width)],
    ['bert.block_count', u32(1)],
    ['bert.feed_forward_length', u32(feedForward)],
    ['bert.attention.head_count', u32(2)],
    ['bert.attention.layer_norm_epsilon', f32(1e-12)],
    ['bert.attention.causal', bool(false)],
    ['bert.pooling_type', u32(poolByRank)],
    ['tokenizer.ggml.model', string('bert')],
    ['tokenizer.ggml.token_type_count', u32(2)],
    ['tokenizer.ggml.tokens', array(tokens.map((token) => string(token)))],
    ['tokenizer.ggml.token_type', array(kinds.map(i32))],
    ['tokenizer.ggml.padding_token_id', u32(0)],
    ['tokenizer.ggml.unknown_token_id', u32(1)],
    ['tokenizer.ggml.cls_token_id', u32(2)],
    ['tokenizer.ggml.bos_token_id', u32(2)],
    ['tokenizer.ggml.eos_token_id', u32(3)],
    ['tokenizer.ggml.seperator_token_id', u32(3)],
    ['tokenizer.ggml.mask_token_id', u32(4)],
  ];
  return writeGguf(facts, weights(tokens.length));
}

function weights(vocabulary: number): Tensor[] {
  const next = seededRandom(20_250_102);
  const matrix = (name: string, columns: number, rows: number): Tensor => ({
    name: `${name}.weight`,
    shape: [columns, rows],
    values: Float32Array.from({ length: columns * rows }, () => (next() * 2 - 1) * 0.3),
  });
  const bias = (name: string, length: number): Tensor => ({
    name: `${name}.bias`,
    shape: [length],
    values: new Float32Array(length),
  });
  const norm = (name: string): Tensor[] => [
    { name: `${name}.weight`, shape: [width], values: new Float32Array(width).fill(1) },
    bias(name, width),
  ];
  const layer = (name: string, columns: number, rows: number): Tensor[] => [
    matrix(name, columns, rows),
    bias(name, rows),
  ];
  return [
    matrix('token_embd', width, vocabulary),
    matrix('token_types', width, 2),
    matrix('position_embd', width, context),
    ...norm('token_embd_norm'),
    ...['q', 'k', 'v', 'output'].flatMap((part) => layer(`blk.0.attn_${part}`, width, width)),
    ...norm('blk.0.attn_output_norm'),
    ...layer('blk.0.ffn_up', width, feedForward),
    ...layer('blk.0.ffn_down', feedForward, width),
    ...norm('blk.0.layer_output_norm'),
    ...layer('cls', width, width),
    ...layer('cls.output', width, 1),
  ];
}
