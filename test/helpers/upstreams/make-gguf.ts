import { seededRandom } from '../seeded-random.ts';
import { array, bool, f32, i32, string, tokenType, u32, writeGguf, type Fact, type Tensor } from './gguf-file.ts';

/**
 * Creates a language model on the spot: llama architecture, one layer, random weights from a fixed seed, about 200 KiB. Its texts are
 * random, but everything around it is real: tokenizer, chat template with tools and thinking, grammar-bound tool calls.
 * @param context tokens of context for which the model claims to be trained
 * @param infills whether it has the tokens for writing between a prefix and a suffix
 * @param rereads whether it reads its own words as the same tokens, as other models do: by tokens for the beginnings of all words, which it
 * never writes. Without them it reads letters
 */
export function makeGguf({ context = 65_536, infills = false, rereads = false } = {}): Buffer {
  const tokens = vocabulary(infills, rereads);
  const tensors = weights(tokens);
  const facts: Fact[] = [
    ['general.architecture', string('llama')],
    ['general.name', string('Tiny Babbler')],
    ['general.file_type', u32(0)],
    ['llama.context_length', u32(context)],
    ['llama.embedding_length', u32(width)],
    ['llama.block_count', u32(1)],
    ['llama.feed_forward_length', u32(feedForward)],
    ['llama.attention.head_count', u32(heads)],
    ['llama.attention.head_count_kv', u32(heads)],
    ['llama.attention.layer_norm_rms_epsilon', f32(1e-5)],
    ['llama.rope.dimension_count', u32(width / heads)],
    ['llama.vocab_size', u32(tokens.length)],
    ['tokenizer.ggml.model', string('llama')],
    ['tokenizer.ggml.tokens', array(tokens.map((token) => string(token.text)))],
    ['tokenizer.ggml.scores', array(tokens.map((token) => f32(token.score)))],
    ['tokenizer.ggml.token_type', array(tokens.map((token) => i32(token.type)))],
    ['tokenizer.ggml.unknown_token_id', u32(0)],
    ['tokenizer.ggml.bos_token_id', u32(1)],
    ['tokenizer.ggml.eos_token_id', u32(tokens.findIndex((token) => token.text === '<|im_end|>'))],
    ['tokenizer.ggml.add_bos_token', bool(true)],
    ['tokenizer.ggml.add_space_prefix', bool(false)],
    ['tokenizer.chat_template', string(chatTemplate)],
    ...(infills ? infillFacts(tokens) : []),
  ];
  return writeGguf(facts, tensors);
}

const width = 32;
const heads = 2;
const feedForward = 64;

interface Token {
  text: string;
  type: number;
  score: number;
  /** Likelihood of the token, as an addition to its logit. */
  bias: number;
}

const words = `the a red blue small large river mountain house tree cloud stone light water wind road bridge garden
window letter morning evening quiet gentle sudden ancient walks sings opens carries turns follows finds keeps under over
beside through toward away again always never perhaps because while and but or with without`.split(/\s+/);

/** The tokens before the prefix, the suffix and the text between them. */
const infillTokens = { pre: '<|fim_prefix|>', suf: '<|fim_suffix|>', mid: '<|fim_middle|>' };

function infillFacts(tokens: readonly Token[]): Fact[] {
  return Object.entries(infillTokens).map(([name, text]) => [
    `tokenizer.ggml.fim_${name}_token_id`,
    u32(tokens.findIndex((token) => token.text === text)),
  ]);
}

function vocabulary(infills: boolean, rereads: boolean): Token[] {
  const never = -100;
  const token = (text: string, type: number, score: number, bias: number): Token => ({ text, type, score, bias });
  const bytes = Array.from({ length: 256 }, (_, byte) =>
    token(`<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`, tokenType.byte, 0, never),
  );
  const characters = Array.from({ length: 94 }, (_, index) => String.fromCharCode(33 + index));
  return [
    token('<unk>', tokenType.unknown, 0, never),
    token('<s>', tokenType.control, 0, never),
    token('</s>', tokenType.control, 0, never),
    ...bytes,
    token('<|im_start|>', tokenType.control, 0, never),
    token('<|im_end|>', tokenType.control, 0, 1),
    token('<think>', tokenType.userDefined, 0, never),
    token('</think>', tokenType.userDefined, 0, 1),
    token('<tool_call>', tokenType.userDefined, 0, 0),
    token('</tool_call>', tokenType.userDefined, 0, never),
    token('\u2581', tokenType.normal, -100, -20),
    ...characters.map((character) => token(character, tokenType.normal, -100, -20)),
    ...words.map((word, index) => token(`\u2581${word}`, tokenType.normal, -1 - index, 0)),
    ...(rereads ? beginnings().map((text) => token(text, tokenType.normal, -90, never)) : []),
    ...(infills ? Object.values(infillTokens).map((text) => token(text, tokenType.control, 0, never)) : []),
  ];
}

/**
 * Returns the beginnings of words, of two characters or more, that are not words. A word is read by merging one character after the other.
 */
function beginnings(): string[] {
  const all = words.map((word) => `\u2581${word}`);
  const parts = all.flatMap((word) => Array.from({ length: word.length - 2 }, (_, at) => word.slice(0, at + 2)));
  return [...new Set(parts)].filter((part) => !all.includes(part));
}

/**
 * Returns random weights, except for dimension 0: every embedding has 1 there, the layer adds nothing to it, and so the output matrix's
 * column 0 acts as the bias of each token.
 */
function weights(tokens: Token[]): Tensor[] {
  const next = seededRandom(20_250_101);
  const matrix = (columns: number, rows: number, scale: number): Float32Array =>
    Float32Array.from({ length: columns * rows }, () => (next() * 2 - 1) * scale);
  const embeddings = matrix(width, tokens.length, 0.5);
  const output = matrix(width, tokens.length, 0.3);
  for (const [index, token] of tokens.entries()) {
    embeddings[index * width] = 1;
    output[index * width] = token.bias / 2;
  }
  const attention = matrix(width, width, 0.2).fill(0, 0, width);
  const down = matrix(feedForward, width, 0.2).fill(0, 0, feedForward);
  const ones = (): Float32Array => new Float32Array(width).fill(1);
  return [
    { name: 'token_embd.weight', shape: [width, tokens.length], values: embeddings },
    { name: 'output_norm.weight', shape: [width], values: ones() },
    { name: 'output.weight', shape: [width, tokens.length], values: output },
    { name: 'blk.0.attn_norm.weight', shape: [width], values: ones() },
    ...['q', 'k', 'v'].map((part) => ({
      name: `blk.0.attn_${part}.weight`,
      shape: [width, width],
      values: matrix(width, width, 0.2),
    })),
    { name: 'blk.0.attn_output.weight', shape: [width, width], values: attention },
    { name: 'blk.0.ffn_norm.weight', shape: [width], values: ones() },
    ...['gate', 'up'].map((part) => ({
      name: `blk.0.ffn_${part}.weight`,
      shape: [width, feedForward],
      values: matrix(width, feedForward, 0.2),
    })),
    { name: 'blk.0.ffn_down.weight', shape: [feedForward, width], values: down },
  ];
}

const chatTemplate = `{%- if tools %}<|im_start|>system
{% if messages[0].role == 'system' %}{{ messages[0].content }}

{% endif %}# Tools
<tools>
{% for tool in tools %}{{ tool | tojson }}
{% endfor %}</tools>
Call one with its name and arguments as JSON.<|im_end|>
{% elif messages[0].role == 'system' %}<|im_start|>system
{{ messages[0].content }}<|im_end|>
{% endif %}
{%- for message in messages %}
{%- if message.role == 'user' or (message.role == 'system' and not loop.first) %}<|im_start|>{{ message.role }}
{{ message.content }}<|im_end|>
{% elif message.role == 'assistant' %}<|im_start|>assistant
{% if message.reasoning_content %}<think>{{ message.reasoning_content }}</think>{% endif %}{% if message.content %}{{ message.content }}{% endif %}
{%- for tool_call in message.tool_calls or [] %}
<tool_call>{"name": "{{ tool_call.function.name }}", "arguments": {{ tool_call.function.arguments | tojson }}}</tool_call>
{%- endfor %}<|im_end|>
{% elif message.role == 'tool' %}<|im_start|>user
<tool_response>
{{ message.content }}
</tool_response><|im_end|>
{% endif %}
{%- endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
<think>{% if enable_thinking is defined and enable_thinking is false %}</think>{% endif %}{% endif %}`;
