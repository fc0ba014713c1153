import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { estimateTokensOfBytes } from '#shared/formats/estimate-tokens.ts';
import { ChatToChatStream } from '#shared/translate/same-format/chat-to-chat-stream.ts';
import { ChunkTemplate } from '#shared/translate/same-format/chunk-template.ts';

const answerContext = { id: 'chatcmpl-mint', model: 'served', created: 7, promptTokens: () => 11 };
const role = chunkOf({ role: 'assistant', content: '' });

function chunkOf(delta: object, more: object = {}, choice: object = {}): string {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: null, ...choice }];
  const head = { id: 'chatcmpl-7', object: 'chat.completion.chunk', created: 1, model: 'engine' };
  return JSON.stringify({ ...head, choices, ...more });
}

/** Passes a chunk with the text `x` to `learn` as often as given. */
function learn(repeated: ChunkTemplate, data: string, write: (data: string) => string | undefined, times = 8): void {
  for (let seen = 0; seen < times; seen += 1) repeated.considerChunk(data, () => 'x', write);
}

/** Returns the text that a stream writes for one event after an event with only a role. */
function alone(data: string): string {
  const stream = new ChatToChatStream(answerContext);
  stream.translateEvent(role);
  return stream.translateEvent(data);
}

const special = ['any text', 'engine', '', '"', '\\', '\n', ' {"x":1}', '日本', '👩‍🚀', '\u2028', '\u007f', 'null'];
const text = fc.oneof(fc.constantFrom(' a', ...special), fc.string({ unit: 'grapheme', maxLength: 12 }));
const chunk = fc.oneof(
  { weight: 12, arbitrary: text.map((content) => chunkOf({ content })) },
  { weight: 4, arbitrary: text.map((reasoning) => chunkOf({ role: 'assistant', content: null, reasoning })) },
  { weight: 4, arbitrary: text.map((content) => chunkOf({ content }).replaceAll('":', '": ')) },
  text.map((content) => chunkOf({ content, reasoning_content: content })),
  text.map((content) => chunkOf({ content }, { usage: { prompt_tokens: 3 } })),
  text.map((content) => chunkOf({ content }, { obfuscation: content })),
  text.map((content) => chunkOf({ content: [{ type: 'text', text: content }] })),
  text.map((content) => chunkOf({ content, refusal: 'no' })),
  text.map((content) => chunkOf({ content }, {}, { logprobs: { content: [{ token: content }] } })),
);

it('a stream writes the same for each chunk, however many similar chunks came before', () => {
  fc.assert(
    fc.property(fc.array(chunk, { minLength: 20, maxLength: 120 }), (chunks) => {
      const stream = new ChatToChatStream(answerContext);
      stream.translateEvent(role);
      for (const data of chunks) expect(stream.translateEvent(data)).toBe(alone(data));
    }),
    { numRuns: 300 },
  );
});

it('a stream counts the bytes of the texts of repeated chunks', () => {
  const texts = Array.from({ length: 100 }, (_, at) => ` Grüße ${at}`);
  const stream = new ChatToChatStream(answerContext);
  for (const content of texts) stream.translateEvent(chunkOf({ content }));
  stream.translateEvent(chunkOf({}, {}, { finish_reason: 'stop' }));
  const { usage } = stream.translateEnd().ending;
  expect(usage.completionTokens).toBe(estimateTokensOfBytes(Buffer.byteLength(texts.join(''))));
});

it('a chunk is recognized once a similar chunk was learned, and only if nothing but its text differs', () => {
  const repeated = new ChunkTemplate();
  learn(repeated, '{"a":"x","b":1}', (data) => `<${data}>`, 7);
  expect(repeated.findText('{"a":"y","b":1}')).toBeUndefined();
  learn(repeated, '{"a":"x","b":1}', (data) => `<${data}>`, 1);
  expect(repeated.findText('{"a":"y","b":1}')).toBe('y');
  expect(repeated.write('y')).toBe('<{"a":"y","b":1}>');
  const others = ['{"a":"y","b":2}', '{"a":"","b":1}', '{"a":"\\"","b":1}', '{"a":"y","c":"","b":1}', '{"a":"', ''];
  for (const other of others) expect(repeated.findText(other)).toBeUndefined();
});

it.each([
  ['the end of one field and the beginning of another', '{"choices":[{"delta":{"content":"\\u002c"}}],"a":["x","y"]}'],
  ['another field', '{"choices":[{"delta":{"content":"\\u0061"}}],"b":"a"}'],
  ['an id', '{"id":"a","choices":[{"delta":{"content":"\\u0061"}}]}'],
])('%s is not recognized as the escaped form of a learned text', (_, data) => {
  const stream = new ChatToChatStream(answerContext);
  stream.translateEvent(role);
  for (let count = 0; count < 40; count += 1) expect(stream.translateEvent(data)).toBe(alone(data));
  const other = data.replace('"a"', '"c"').replace('"x","y"', '"x"z"y"');
  if (other.includes('z')) expect(() => stream.translateEvent(other)).toThrow('cannot be read');
  else expect(stream.translateEvent(other)).toBe(alone(other));
});

it('a chunk is not learned if its text occurs twice in it, or the translation does not pass its text', () => {
  const repeated = new ChunkTemplate();
  learn(repeated, '{"a":"x","b":"x"}', (data) => data);
  learn(repeated, '{"a":"x"}', () => undefined);
  learn(repeated, '{"a":"x"}', () => '{}');
  expect(repeated.findText('{"a":"y"}')).toBeUndefined();
  expect(repeated.findText('{"a":"y","b":"x"}')).toBeUndefined();
});
