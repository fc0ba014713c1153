import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';
import { chatToChat } from '#shared/translate/same-format/chat-to-chat.ts';
import { errorWith } from '../../../helpers/error-with.ts';
import { assembleCompletion } from '../assemble-completion.ts';
import { runStream } from '../run-stream.ts';
import { chatChunk } from '../upstream-streams.ts';
import { said } from '../../../helpers/formats/said.ts';

const answerContext = { id: 'chatcmpl-mint', model: 'served', created: 7, promptTokens: () => 11 };
const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };

type Chunk = {
  id: string;
  model: string;
  choices: { index: number; delta: { content?: string; [field: string]: unknown }; finish_reason: string | null }[];
  usage?: Record<string, unknown>;
  [field: string]: unknown;
};

/** Returns a chunk of the upstream with further fields. */
function delta(delta: JsonObject, finish: string | null = null, more: object = {}): object {
  return { ...chatChunk(delta, finish), object: 'theirs', created: 1, ...more };
}

/** Returns the client's chunks for these upstream events. Checks and removes `[DONE]`. */
function run(events: readonly (object | string)[], choices = 1) {
  const { text, ending } = runStream(chatToChat.createStream({ ...answerContext, recalled: { n: choices } }), events);
  const lines = text.split('\n\n').filter((line) => line !== '');
  expect(lines.pop()).toBe('data: [DONE]');
  const chunks = lines.map((line) => JSON.parse(line.slice('data: '.length)) as Chunk);
  return { text, chunks, ending, deltas: chunks.map((chunk) => chunk.choices[0]?.delta) };
}

describe('a chat stream of several choices', () => {
  const of = (index: number, delta: object, finish_reason: string | null = null): object => ({
    choices: [{ index, delta, finish_reason }],
  });
  const usageOf = (completion_tokens: number): object => ({ choices: [], usage: { ...usage, completion_tokens } });
  const seen = (chunks: readonly Chunk[]) =>
    chunks.map(({ choices }) => choices.map(({ index, delta: each, finish_reason: end }) => [index, each, end]));

  it('keeps their indices, a role for each, and their finish reasons in the last chunk', () => {
    const begins = [of(1, said('assistant', 'b')), of(0, said('assistant', 'a'))];
    const ends = [of(0, {}, 'length'), of(1, { content: 'B' }), of(1, {}, 'stop'), usageOf(4)];
    const { chunks, ending } = run([...begins, ...ends, '[DONE]'], 2);
    expect(seen(chunks)).toEqual([
      [[1, said('assistant', 'b'), null]],
      [[0, said('assistant', 'a'), null]],
      [[1, { content: 'B' }, null]],
      [
        [0, {}, 'length'],
        [1, {}, 'stop'],
      ],
    ]);
    expect(chunks.at(-1)?.usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 });
    expect(ending).toMatchObject({ finishReason: 'length', usage: { completionTokens: 4 } });
  });

  it('has the choices of one chunk in one chunk, with unique ids of calls', () => {
    const call = { function: { name: 'f', arguments: '{}' } };
    const choices = [0, 1].map((index) => ({ index, delta: { tool_calls: [call] }, finish_reason: null }));
    const { chunks } = run([{ choices }, of(0, {}, 'stop'), of(1, {}, 'length'), '[DONE]'], 2);
    const [first, last] = chunks;
    expect(first?.choices.map(({ index }) => index)).toEqual([0, 1]);
    expect(first?.choices.map(({ delta: each }) => each['tool_calls'])).toMatchObject([
      [{ index: 0, id: 'call_mint_0' }],
      [{ index: 0, id: 'call_mint_1_0' }],
    ]);
    expect(last?.choices.map(({ finish_reason: end }) => end)).toEqual(['tool_calls', 'length']);
  });

  it('counts the output of all choices if each has its own usage', () => {
    const events = [of(0, { content: 'a' }), of(1, { content: 'b' }), of(0, {}, 'stop'), usageOf(2)];
    const { chunks } = run([...events, of(1, { content: 'B' }), of(1, {}, 'stop'), usageOf(5), '[DONE]'], 2);
    expect(chunks.at(-1)?.usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 7, total_tokens: 10 });
  });

  it('passes many chunks of several choices as it passes those of one', () => {
    const texts = Array.from({ length: 60 }, (_, at) => [`a${at} `, `b${at} `] as const);
    const events = texts.flatMap(([a, b]) => [of(0, { content: a }), of(1, { content: b })]);
    const { chunks } = run([...events, of(0, {}, 'stop'), of(1, {}, 'stop'), '[DONE]'], 2);
    const textOf = (index: number) =>
      chunks.flatMap(({ choices }) => choices.filter((each) => each.index === index).map((each) => each.delta.content));
    expect(textOf(0).join('')).toBe(texts.map(([a]) => a).join(''));
    expect(textOf(1).join('')).toBe(texts.map(([, b]) => b).join(''));
    const roles = chunks.flatMap(({ choices }) => choices.filter((each) => 'role' in each.delta));
    expect(roles.map(({ index }) => index)).toEqual([0, 1]);
  });

  it('fails if a choice is incomplete or was not requested', () => {
    const events = [of(0, { content: 'a' }), of(1, { content: 'b' }), of(0, {}, 'stop')];
    for (const failing of [events, [of(2, { content: 'c' })]])
      expect(() => run(failing, 2)).toThrow(errorWith('upstream_failed'));
  });
});

describe('a chat stream', () => {
  const plain = [delta(said('assistant', '')), delta({ content: 'Hel' }), delta({ content: 'lo' })];

  it('has calls of custom tools piece by piece', () => {
    const pieces: JsonObject[] = [
      { index: 0, id: 'a', type: 'custom', custom: { name: 'shell', input: '' } },
      { index: 0, custom: { input: 'ls ' } },
      { index: 0, custom: { input: '"x"' } },
    ];
    const calls = pieces.map((piece) => ({ tool_calls: [piece] }));
    const { deltas, ending } = run([...calls.map((call) => delta(call)), delta({}, 'stop'), '[DONE]']);
    expect(deltas.slice(0, -1)).toEqual([{ role: 'assistant', ...calls[0] }, ...calls.slice(1)]);
    expect(ending.finishReason).toBe('tool_calls');
  });

  const endings: [string, object[]][] = [
    ['in a chunk of its own', [delta({}, 'stop'), { ...delta({}), choices: [], usage }]],
    ['on the last chunk', [delta({ content: '' }, 'stop', { usage })]],
    ['on every chunk', [delta({ content: '' }, null, { usage: { prompt_tokens: 3 } }), delta({}, 'stop', { usage })]],
    ['before the finish reason', [{ ...delta({}), choices: [], usage }, delta({}, 'stop')]],
    ['beside an empty choice', [delta({}, 'stop'), delta({ content: '' }, null, { usage })]],
  ];
  it.each(endings)('ends with empty delta, finish reason and usage in one chunk when usage comes %s', (_, events) => {
    const { chunks, ending } = run([...plain, ...events, '[DONE]']);
    expect(chunks.filter((chunk) => chunk.usage !== undefined)).toEqual([chunks.at(-1)]);
    expect(chunks.at(-1)).toMatchObject({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage });
    expect(Object.keys(chunks.at(-1)?.choices[0]?.delta ?? {})).toEqual([]);
    expect(chunks.slice(0, -1).every((chunk) => chunk.choices[0]?.finish_reason === null)).toBe(true);
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe('Hello');
    expect(ending).toMatchObject({ finishReason: 'stop', usage: { promptTokens: 3, completionTokens: 2 } });
    const own = { id: 'chatcmpl-mint', model: 'served', created: 7, object: 'chat.completion.chunk' };
    for (const chunk of chunks) expect(chunk).toMatchObject(own);
  });

  it('has the role in the first chunk only, even if the engine always or never sends it', () => {
    const always = run([delta(said('assistant', 'a')), delta(said('assistant', 'b'), 'stop')]);
    const never = run([delta({ content: 'a' }), delta({ content: 'b' }, 'stop')]);
    for (const { deltas } of [always, never]) {
      expect(deltas).toEqual([said('assistant', 'a'), { content: 'b' }, {}]);
    }
  });

  it('has the role even if the answer is empty', () => {
    expect(run([delta({}, 'stop')]).deltas).toEqual([{ role: 'assistant' }, {}]);
  });

  it('passes unknown fields, on their own chunk or on the last', () => {
    const logprobs = { content: [{ token: 'a' }] };
    const cached = { cached_tokens: 1 };
    const first = delta({ content: 'a' }, null, { system_fingerprint: 'fp' });
    const { chunks } = run([
      { ...first, choices: [{ index: 0, delta: { content: 'a' }, logprobs, finish_reason: null }] },
      { ...delta({}), choices: [{ index: 0, delta: {}, finish_reason: 'stop', stop_reason: 'END' }] },
      { ...delta({}), choices: [], usage: { ...usage, prompt_tokens_details: cached }, timings: { n: 1 } },
    ]);
    expect(chunks[0]).toMatchObject({ system_fingerprint: 'fp', choices: [{ logprobs }] });
    const last = { timings: { n: 1 }, choices: [{ stop_reason: 'END' }], usage: { prompt_tokens_details: cached } };
    expect(chunks[1]).toMatchObject(last);
  });

  it('has thinking in reasoning_content, whichever name the engine uses', () => {
    const { deltas } = run([delta({ reasoning: 'a' }), delta({ reasoning_content: 'b' }), delta({}, 'stop')]);
    expect(deltas).toEqual([{ role: 'assistant', reasoning_content: 'a' }, { reasoning_content: 'b' }, {}]);
  });

  it('has the text of chunks whose delta is called message', () => {
    const chunk = { choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: null }] };
    const { deltas, chunks } = run([chunk, delta({}, 'stop')]);
    expect(deltas).toEqual([{ role: 'assistant', content: 'Hi' }, {}]);
    expect(chunks[0]?.choices[0]).not.toHaveProperty('message');
  });

  it('treats a [DONE] without finish reason as an ordinary end', () => {
    expect(run([...plain, '[DONE]']).chunks.at(-1)).toMatchObject({ choices: [{ finish_reason: 'stop' }] });
  });
});

describe('the tool calls of a chat stream', () => {
  const call = (fields: JsonObject) => delta({ tool_calls: [fields] });
  const part = (index: number | undefined, id: string | undefined, name: string | undefined, text: string) =>
    call({
      ...(index !== undefined && { index }),
      ...(id !== undefined && { id, type: 'function' }),
      function: { ...(name !== undefined && { name }), arguments: text },
    });

  /** The calls as clients assemble them. */
  function assemble(events: object[]) {
    const { calls, finishReason } = assembleCompletion(run([...events, delta({}, 'stop')]).text);
    expect(finishReason).toBe('tool_calls');
    return calls;
  }

  const two = [
    { id: 'a', name: 'f', arguments: '{"x":1}' },
    { id: 'b', name: 'g', arguments: '{"y":2}' },
  ];

  const more = (index: number | undefined, text: string) => part(index, undefined, undefined, text);
  const [f, none] = [part(0, 'a', 'f', '{"x":1}'), undefined];

  it.each([
    ['are well-formed', [part(0, 'a', 'f', '{"x"'), more(0, ':1}'), part(1, 'b', 'g', '{"y":2}')]],
    ['interleave', [part(0, 'a', 'f', ''), part(1, 'b', 'g', '{"y"'), more(0, '{"x":1}'), more(1, ':2}')]],
    ['all have index 0 (Ollama)', [part(0, 'a', 'f', '{"x":1}'), part(0, 'b', 'g', '{"y":2}')]],
    ['start at 1 and leave gaps', [part(1, 'a', 'f', '{"x":1}'), part(5, 'b', 'g', '{"y"'), more(5, ':2}')]],
    ['have no index', [part(none, 'a', 'f', '{"x"'), more(none, ':1}'), part(none, 'b', 'g', '{"y":2}')]],
    [
      'repeat id and name',
      [part(0, 'a', 'f', '{"x"'), part(0, 'a', 'f', ':1}'), part(1, 'b', 'g', '{"y"'), part(1, 'b', 'g', ':2}')],
    ],
    ['arrive in one chunk', [delta({ tool_calls: two.map(({ id, ...fn }) => ({ id, function: fn })) })]],
    [
      'have arguments that are objects',
      [
        part(0, 'a', 'f', ''),
        call({ index: 0, function: { arguments: { x: 1 } } }),
        call({ index: 1, id: 'b', function: { name: 'g', arguments: { y: 2 } } }),
      ],
    ],
    [
      'have another id in each piece',
      [part(0, 'a', 'f', '{"x"'), part(0, 'c', none, ':1}'), part(1, 'b', 'g', '{"y"'), part(1, 'd', none, ':2}')],
    ],
    ['go on at another index than they began at', [f, part(0, 'b', 'g', '{"y"'), more(1, ':2'), more(1, '}')]],
    [
      'are known by their ids alone',
      [part(0, 'a', 'f', '{"x"'), part(1, 'b', 'g', '{"y":2}'), part(3, 'a', none, ':1}')],
    ],
    [
      'have their names in a second piece',
      [part(0, 'a', none, ''), part(0, none, 'f', '{"x":1}'), part(1, 'b', none, ''), part(1, 'b', 'g', '{"y":2}')],
    ],
    ['come with an empty id later', [part(0, 'a', 'f', '{"x"'), part(0, '', '', ':1}'), part(1, 'b', 'g', '{"y":2}')]],
  ])('are the same if the chunks %s', (_, events) => {
    expect(assemble(events)).toEqual(two);
  });

  it('get ids if the engine sends none, and new ones if it uses one twice', () => {
    const given = assemble([part(0, none, 'f', '{"x":1}'), part(0, none, 'g', '{"y"'), part(0, none, 'g', ':2}')]);
    expect(given).toEqual(two.map((call, at) => ({ ...call, id: `call_mint_${at}` })));
    const twice = assemble([part(0, 'a', 'f', '{"x":1}'), part(1, 'a', 'g', '{"y":2}')]);
    expect(twice.map(({ id }) => id)).toEqual(['a', 'call_mint_1']);
  });

  it("keep the call's further fields", () => {
    const kept = { extra_content: { s: 1 } };
    const given = call({ index: 0, id: 'a', function: { name: 'f', arguments: '{}' }, ...kept });
    expect(run([given, delta({}, 'stop')]).deltas[0]?.['tool_calls']).toMatchObject([kept]);
  });

  it('do not change the finish reason length', () => {
    expect(run([part(0, 'a', 'f', '{"x"'), delta({}, 'length')]).ending.finishReason).toBe('length');
  });

  it('are limited in number', () => {
    const events = Array.from({ length: 129 }, (_, at) => part(at, `c${at}`, 'f', '{}'));
    expect(() => run(events)).toThrow(errorWith('upstream_failed'));
  });
});
