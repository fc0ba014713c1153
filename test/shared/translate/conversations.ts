import * as fc from 'fast-check';
import type { Json, JsonObject } from '#shared/core/json.ts';
import { textBlock } from '../../helpers/formats/said.ts';

/*
 * Generated requests in the simplest form of each format: what the rules join (one text and a string, results and the user
 * message after them) is joined already, and what they omit is missing. Everything else must survive a round trip.
 */

const text = fc
  .string({ minLength: 1, maxLength: 30, unit: 'grapheme' })
  .filter((value) => !value.startsWith('x-anthropic-billing-header:'));
const name = fc.stringMatching(/^[a-zA-Z0-9_-]{1,20}$/);
const textPart = text.map(textBlock);
const base64 = fc.base64String({ minLength: 4, maxLength: 24 });
const imageType = fc.constantFrom('image/jpeg', 'image/png', 'image/gif', 'image/webp');
const url = name.map((path) => `https://example.com/${path}.png`);

function inputOf(names: fc.Arbitrary<string>, maxKeys: number): fc.Arbitrary<JsonObject> {
  return fc
    .dictionary(names, fc.jsonValue({ maxDepth: 2 }), { maxKeys })
    .map((value) => JSON.parse(JSON.stringify(value)) as JsonObject)
    .filter((value) => Object.keys(value).join() !== '_raw');
}
const input = inputOf(name, 4);
const brokenArguments = fc.oneof(
  fc.constantFrom('[1]', '{"x":'),
  text.filter((value) => value.trim() !== '' && !value.trim().startsWith('{')),
);

/** Texts, names and inputs of answers, and sizes of the pieces in which they are streamed. */
export const someText = fc.string({ maxLength: 40, unit: 'grapheme' });
export const shortName = fc.stringMatching(/^[a-z_]{1,10}$/);
export const smallInput = inputOf(shortName, 3);
export const pieceSizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 });

/** Cuts texts into pieces of these sizes, one after the other. */
export function cutInto(sizes: readonly number[]): (text: string) => string[] {
  let cuts = 0;
  return (text) => {
    const pieces: string[] = [];
    for (let rest = text; rest !== '';) {
      const size = sizes[cuts++ % sizes.length] ?? 1;
      pieces.push(rest.slice(0, size));
      rest = rest.slice(size);
    }
    return pieces;
  };
}

const ids = (turn: number, count: number) => Array.from({ length: count }, (_, at) => `call_${turn}-${at}`);

/** Several texts and images, or a single text as a string; never two forms of the same content. */
function contentOf<T extends Json>(texts: fc.Arbitrary<T>, images: fc.Arbitrary<T>): fc.Arbitrary<string | T[]> {
  const image = images.map((image) => [image]);
  return fc.oneof(text, fc.array(fc.oneof(texts, images), { minLength: 2, maxLength: 4 }), image);
}

const sampling = {
  temperature: fc.double({ min: 0, max: 1, noNaN: true }).map((value) => value + 0),
  top_p: fc.double({ min: 0, max: 1, noNaN: true }).map((value) => value + 0),
  top_k: fc.integer({ min: 0, max: 100 }),
};
const schema = fc.record({ type: fc.constant('object'), properties: fc.dictionary(name, fc.record({ type: name })) });

function turns<T>(turn: (at: number) => fc.Arbitrary<T[]>): fc.Arbitrary<T[]> {
  return fc
    .integer({ min: 1, max: 4 })
    .chain((count) => fc.tuple(...Array.from({ length: count }, (_, at) => turn(at))))
    .map((all) => all.flat());
}

const dataUrl = fc.tuple(imageType, base64).map(([type, data]) => `data:${type};base64,${data}`);
const chatImage = fc.oneof(dataUrl, url).map((url) => ({ type: 'image_url', image_url: { url } }));

function chatTurn(turn: number): fc.Arbitrary<JsonObject[]> {
  const user = contentOf<JsonObject>(textPart, chatImage).map((content) => ({ role: 'user', content }));
  const json = input.map((value) => JSON.stringify(value));
  const call = fc.tuple(name, fc.oneof(json, brokenArguments), text);
  return fc
    .tuple(user, fc.option(contentOf<JsonObject>(textPart, textPart)), fc.array(call, { maxLength: 4 }))
    .map(([question, said, calls]) => {
      const names = ids(turn, calls.length);
      const tool_calls = calls.map(([name, text], at) => {
        return { id: names[at], type: 'function', function: { name, arguments: text } };
      });
      const onlyText = typeof said === 'string' || said === null ? said : said.length > 1 ? said : 'one';
      const answer: JsonObject = {
        role: 'assistant',
        content: onlyText ?? (calls.length > 0 ? null : 'nothing'),
        ...(calls.length > 0 && { tool_calls }),
      };
      const results = calls.map(([, , result], at) => ({ role: 'tool', tool_call_id: names[at], content: result }));
      return [question, answer, ...results];
    });
}

const chatTool = fc.record({
  type: fc.constant('function'),
  function: fc.record(
    { name, description: text, parameters: schema, strict: fc.constant(true) },
    { requiredKeys: ['name', 'parameters'] },
  ),
});

/** A chat request that survives the way to the messages format and back without loss. */
export const chatConversation: fc.Arbitrary<JsonObject> = fc
  .record({
    system: fc.option(text),
    turns: turns(chatTurn),
    last: text,
    tools: fc.uniqueArray(chatTool, { minLength: 1, maxLength: 3, selector: (tool) => tool.function.name }),
    choice: fc.constantFrom('auto', 'none', 'required', 'named'),
    parallel: fc.boolean(),
    sampling: fc.record(sampling, { requiredKeys: [] }),
    effort: fc.constantFrom('none', 'low', 'medium', 'high', 'max'),
    with: fc.record({ tools: fc.boolean(), effort: fc.boolean() }),
    further: fc.record(
      {
        max_tokens: fc.integer({ min: 1, max: 100_000 }),
        stop: fc.array(text, { minLength: 1, maxLength: 4 }),
        response_format: schema.map((schema) => {
          return { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } };
        }),
        some_engine_field: fc.integer(),
      },
      { requiredKeys: ['max_tokens'] },
    ),
  })
  .map(({ system, turns, last, tools, choice, parallel, sampling, effort, with: added, further }) => {
    const named = { type: 'function', function: { name: tools[0]?.function.name ?? '' } };
    const forced = added.tools && ['required', 'named'].includes(choice);
    return {
      model: 'm',
      messages: [
        ...(system === null ? [] : [{ role: 'system', content: system }]),
        ...turns,
        { role: 'user', content: last },
      ],
      ...(added.tools && { tools, tool_choice: choice === 'named' ? named : choice }),
      ...(added.tools && choice !== 'none' && !parallel && { parallel_tool_calls: false }),
      // The messages format allows no sampling parameters with thinking, and no thinking with a forced tool.
      ...(added.effort && !forced ? { reasoning_effort: effort, ...(effort === 'none' && sampling) } : sampling),
      ...further,
    };
  })
  .filter(({ messages }) => !twoUserMessagesInARow(messages));

/** A user message after tool results joins their turn, so a second user message would join it too. */
function twoUserMessagesInARow(messages: readonly JsonObject[]): boolean {
  return messages.some(({ role }, at) => role === 'user' && messages[at - 1]?.['role'] === 'user');
}

const dataSource = fc.tuple(imageType, base64).map(([media_type, data]) => ({ type: 'base64', media_type, data }));
const urlSource = url.map((url) => ({ type: 'url', url }));
const messagesImage = fc.oneof(dataSource, urlSource).map((source) => ({ type: 'image', source }));

function messagesTurn(turn: number): fc.Arbitrary<JsonObject[]> {
  const more = fc.array(fc.oneof<fc.Arbitrary<JsonObject>[]>(textPart, messagesImage), { maxLength: 3 });
  const texts = fc.array(textPart, { maxLength: 3 });
  return fc
    .tuple(texts, fc.array(fc.tuple(name, input, text), { minLength: 1, maxLength: 4 }), more)
    .map(([said, uses, after]) => {
      const names = ids(turn, uses.length);
      const calls = uses.map(([name, input], at) => ({ type: 'tool_use', id: names[at], name, input }));
      const results = uses.map(([, , content], at) => ({ type: 'tool_result', tool_use_id: names[at], content }));
      return [
        { role: 'assistant', content: [...said, ...calls] },
        { role: 'user', content: [...results, ...after] },
      ];
    });
}

/** A messages request that survives the way to the chat format and back without loss. */
export const messagesConversation: fc.Arbitrary<JsonObject> = fc
  .record({
    first: contentOf<JsonObject>(textPart, messagesImage),
    turns: turns(messagesTurn),
    tools: fc.uniqueArray(
      fc.record(
        { name, description: text, input_schema: schema, strict: fc.constant(true) },
        { requiredKeys: ['name', 'input_schema'] },
      ),
      { minLength: 1, maxLength: 3, selector: (tool) => tool.name },
    ),
    choice: fc.constantFrom('auto', 'any', 'none', 'tool'),
    parallel: fc.boolean(),
    withTools: fc.boolean(),
    further: fc.record(
      {
        max_tokens: fc.integer({ min: 1, max: 100_000 }),
        system: text,
        stop_sequences: fc.array(text, { minLength: 1, maxLength: 4 }),
        stream: fc.constant(true),
        some_engine_field: fc.integer(),
      },
      { requiredKeys: ['max_tokens'] },
    ),
    sampling: fc.record(sampling, { requiredKeys: [] }),
    thinking: fc.constantFrom('disabled', 'adaptive'),
    effort: fc.constantFrom('low', 'medium', 'high', 'xhigh', 'max'),
    schema: fc.option(schema),
  })
  .map(({ first, turns, tools, choice, parallel, withTools, further, sampling, thinking, effort, schema }) => {
    const forced = withTools && ['any', 'tool'].includes(choice);
    const thinks = thinking === 'adaptive' && !forced;
    const format = schema === null ? {} : { format: { type: 'json_schema', schema } };
    const config = { ...(thinks && { effort }), ...format };
    return {
      model: 'm',
      messages: [{ role: 'user', content: first }, ...turns],
      ...further,
      ...(withTools && {
        tools,
        tool_choice: {
          type: choice,
          ...(choice === 'tool' && { name: tools[0]?.name ?? '' }),
          ...(choice !== 'none' && !parallel && { disable_parallel_tool_use: true }),
        },
      }),
      thinking: { type: thinks ? 'adaptive' : 'disabled' },
      ...(Object.keys(config).length > 0 && { output_config: config }),
      ...(!thinks && sampling),
    };
  });
