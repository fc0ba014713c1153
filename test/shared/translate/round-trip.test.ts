import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';
import { parseChatRequest } from '#shared/formats/chat/parse-chat-request.ts';
import { parseResponsesRequest } from '#shared/formats/responses/parse-responses-request.ts';
import { parseMessagesRequest } from '#shared/formats/messages/parse-messages-request.ts';
import { assembleCompletion } from './assemble-completion.ts';
import { assembleMessage } from './assemble-message.ts';
import { chatConversation, cutInto, messagesConversation } from './conversations.ts';
import { pieceSizes as sizes, shortName, smallInput, someText } from './conversations.ts';
import { runBytes, runStream } from './run-stream.ts';
import { translationBetween } from './translation-between.ts';
import { chatChunk } from './upstream-streams.ts';
import { withoutFields } from './without-fields.ts';

const traits = { model: 'm' };
const answerContext = { id: 'id', model: 'm', created: 1, promptTokens: () => 1 };

function without(request: JsonObject, fields: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(request).filter(([field]) => !fields.includes(field)));
}

/** The fields that a messages request gets on its way from the Responses format. */
const added = ['cache_control', 'display'];

/** Fields that the Responses format lacks. */
const lacked = ['stop', 'stop_sequences', 'top_k'];
const conversations = { chat: chatConversation, messages: messagesConversation };
const parsers = { chat: parseChatRequest, messages: parseMessagesRequest, responses: parseResponsesRequest };

it.each([
  ['chat', 'messages'],
  ['chat', 'responses'],
  ['messages', 'chat'],
  ['messages', 'responses'],
] as const)('a conversation of %s is unchanged from there through %s and back', (format, by) => {
  const [there, back] = [translationBetween(format, by), translationBetween(by, format)];
  const isMarked = format === 'messages' && by === 'responses';
  fc.assert(
    fc.property(conversations[format], (given) => {
      const request = without(given, by === 'responses' ? lacked : []);
      const sent = there.translateRequest(parsers[format](request), traits);
      const came = back.translateRequest(parsers[by](sent), traits);
      expect(isMarked ? withoutFields(came, added) : came).toEqual(request);
    }),
    { numRuns: 150 },
  );
});

const messagesToChat = translationBetween('messages', 'chat');
const responsesToChat = translationBetween('responses', 'chat');

const answer = fc.record({
  reasoning: someText,
  content: someText,
  calls: fc.array(fc.tuple(shortName, smallInput), { maxLength: 5 }),
  finish: fc.constantFrom('stop', 'length', 'tool_calls', 'content_filter'),
  usage: fc.record({ prompt: fc.integer({ min: 1, max: 9999 }), completion: fc.integer({ min: 1, max: 9999 }) }),
});
type Answer = typeof answer extends fc.Arbitrary<infer T> ? T : never;

function wholeChat({ reasoning, content, calls, finish, usage }: Answer): JsonObject {
  const tool_calls = calls.map(([name, input], at) => {
    return { id: `c${at}`, type: 'function', function: { name, arguments: JSON.stringify(input) } };
  });
  const message = { role: 'assistant', content, reasoning_content: reasoning, ...(calls.length > 0 && { tool_calls }) };
  return {
    choices: [{ index: 0, message, finish_reason: finish }],
    usage: { prompt_tokens: usage.prompt, completion_tokens: usage.completion },
  };
}

/** Returns the same answer as a chat stream: `cut` has the sizes of the pieces, `order` the order of their calls. */
function streamedChat(given: Answer, cut: number[], order: number[]): JsonObject[] {
  const pieces = cutInto(cut);
  const head = [
    ...pieces(given.reasoning).map((reasoning) => chatChunk({ reasoning })),
    ...pieces(given.content).map((content) => chatChunk({ content })),
  ];
  const lanes = given.calls.map(([name, input], index) => [
    chatChunk({ tool_calls: [{ index, id: `c${index}`, type: 'function', function: { name, arguments: '' } }] }),
    ...pieces(JSON.stringify(input)).map((text) =>
      chatChunk({ tool_calls: [{ index, function: { arguments: text } }] }),
    ),
  ]);
  // Calls begin in order; their further pieces come in any order.
  const mixed = lanes.map(([first]) => first).filter((first) => first !== undefined);
  for (const lane of lanes) lane.shift();
  for (let turn = 0; lanes.some((lane) => lane.length > 0); turn++) {
    const open = lanes.filter((lane) => lane.length > 0);
    const next = open[(order[turn % order.length] ?? 0) % open.length]?.shift();
    if (next) mixed.push(next);
  }
  const { usage } = wholeChat(given);
  return [chatChunk({ role: 'assistant' }), ...head, ...mixed, chatChunk({}, given.finish), { choices: [], usage }];
}

function bytesOf(events: readonly JsonObject[], named: boolean): Buffer {
  const name = (event: JsonObject) => (named ? `event: ${event['type'] as string}\n` : '');
  return Buffer.from(events.map((event) => `${name(event)}data: ${JSON.stringify(event)}\n\n`).join(''));
}

describe('an answer to a client', () => {
  it('may have characters that some parsers read as line ends', () => {
    const said = { reasoning: '\u2028', content: 'a\u2029b\u0085c' };
    const given: Answer = { ...said, calls: [], finish: 'stop', usage: { prompt: 1, completion: 1 } };
    const { text } = runStream(messagesToChat.createStream(answerContext), streamedChat(given, [9], [1]));
    const { body } = messagesToChat.translateReply(wholeChat(given), answerContext);
    expect(assembleMessage(text).content).toEqual(body['content']);
  });

  it('is the same for a messages client, streamed or not, with pieces of any size and order', () => {
    fc.assert(
      fc.property(answer, sizes, sizes, (given, cut, order) => {
        const whole = messagesToChat.translateReply(wholeChat(given), answerContext);
        const streamed = runStream(messagesToChat.createStream(answerContext), streamedChat(given, cut, order));
        const message = assembleMessage(streamed.text);
        expect(message.content).toEqual(whole.body['content']);
        expect(message.delta['stop_reason']).toBe(whole.body['stop_reason']);
        expect(whole.body['usage']).toMatchObject(message.usage);
        expect(streamed.ending).toEqual(whole.ending);
      }),
    );
  });

  it.each(['messages', 'responses'])('is unchanged from chat through %s back to chat, streamed or not', (by) => {
    const [out, home] = [translationBetween(by, 'chat'), translationBetween('chat', by)];
    fc.assert(
      fc.property(answer, sizes, sizes, (given, cut, order) => {
        const whole = home.translateReply(out.translateReply(wholeChat(given), answerContext).body, answerContext);
        const there = runStream(out.createStream(answerContext), streamedChat(given, cut, order)).text;
        const back = assembleCompletion(runBytes(home.createStream(answerContext), [Buffer.from(there)]));
        expect(back).toMatchObject({
          content: given.content,
          reasoning: given.reasoning,
          calls: given.calls.map(([name, input], at) => ({ id: `c${at}`, name, arguments: JSON.stringify(input) })),
          usage: { prompt_tokens: given.usage.prompt, completion_tokens: given.usage.completion },
        });
        expect(whole.ending.finishReason).toBe(back.finishReason);
        expect(whole.ending.usage).toMatchObject({ promptTokens: given.usage.prompt });
      }),
    );
  });

  it.each([
    ['messages', 'chat'],
    ['chat', 'messages'],
    ['chat', 'responses'],
    ['messages', 'responses'],
    ['responses', 'responses'],
  ])('is the same for a %s client of a %s upstream wherever its bytes are split', (client, upstream) => {
    const translation = translationBetween(client, upstream);
    const given: Answer = {
      reasoning: 'é — 日本',
      content: 'Grüße 👩‍🚀!',
      calls: Object.entries({ f: { 'ü"\\': '👍' }, g: {} }),
      finish: 'tool_calls',
      usage: { prompt: 3, completion: 4 },
    };
    const chat = streamedChat(given, [2], [1, 0]);
    const writer = upstream === 'messages' ? messagesToChat : responsesToChat;
    const named = upstream !== 'chat';
    const events = named ? eventsOf(runStream(writer.createStream(answerContext), chat).text) : chat;
    const bytes = bytesOf(events, named);
    const translate = (chunks: Uint8Array[]) => runBytes(translation.createStream(answerContext), chunks);
    const expected = translate([bytes]);
    // Small and large pieces, which end at each byte once.
    for (const size of [1, 2, 3, 7, 61, 499]) {
      for (let offset = 1; offset <= size; offset++) {
        const pieces = [bytes.subarray(0, offset)];
        for (let at = offset; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
        expect(translate(pieces)).toBe(expected);
      }
    }
  });
});

function eventsOf(stream: string): JsonObject[] {
  return stream
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => JSON.parse(event.slice(event.indexOf('data: ') + 'data: '.length)) as JsonObject);
}
