import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '#shared/core/json.ts';
import { createSealer } from '#shared/core/seal.ts';
import { messagesToResponses } from '#shared/translate/messages-responses/messages-to-responses.ts';
import { responsesToMessagesRequest } from '#shared/translate/responses-messages/responses-to-messages.ts';
import { responsesToMessages } from '#shared/translate/responses-messages/responses-to-messages.ts';
import { toRecalledRequest } from '#shared/translate/responses/recalled-request.ts';
import { assembleMessage } from '../assemble-message.ts';
import { cutInto, pieceSizes as sizes, shortName as name, smallInput as input, someText } from '../conversations.ts';
import { responseEvents } from '../responses/assemble-response.ts';
import { runBytes, runStream } from '../run-stream.ts';
import { messageBlock } from '../upstream-streams.ts';

const { seal, unseal } = createSealer(randomBytes(32));
const traits = { model: 'm', unseal };

const block = fc.oneof(
  fc.tuple(someText, name).map(([thinking, signature]) => ({ type: 'thinking', thinking, signature })),
  name.map((data) => ({ type: 'redacted_thinking', data })),
  fc.tuple(name, input).map(([name, input]) => ({ type: 'tool_use', name, input })),
);
const text = someText.filter((text) => text !== '').map((text) => ({ type: 'text', text }));
const blocks = fc
  .array(fc.tuple(fc.option(text), block), { maxLength: 6 })
  .map((pairs) => pairs.flat().filter((each) => each !== null))
  .map((all) => all.map((each, at): JsonObject => (each.type === 'tool_use' ? { ...each, id: `toolu_${at}` } : each)));
const output = { output_tokens: 7, output_tokens_details: { thinking_tokens: 3 } };
const usage = { input_tokens: 9, ...output, cache_read_input_tokens: 2, cache_creation_input_tokens: 1 };

function stopReasonOf(content: readonly JsonObject[]): string {
  return content.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn';
}

/** Returns the answer as a stream, with its texts in pieces of these sizes. */
function streamed(content: readonly JsonObject[], sizes: readonly number[]): JsonObject[] {
  const cut = cutInto(sizes);
  const deltas = (type: string, field: string, whole: Json | undefined): JsonObject[] =>
    cut(typeof whole === 'string' ? whole : JSON.stringify(whole)).map((piece) => ({ type, [field]: piece }));
  const events = content.flatMap((block, index): JsonObject[] => {
    const inner = [
      ...('thinking' in block ? deltas('thinking_delta', 'thinking', block['thinking']) : []),
      ...('signature' in block ? deltas('signature_delta', 'signature', block['signature']) : []),
      ...('text' in block ? deltas('text_delta', 'text', block['text']) : []),
      ...('input' in block ? deltas('input_json_delta', 'partial_json', block['input']) : []),
    ];
    const begun = {
      ...block,
      ...('thinking' in block && { thinking: '', signature: '' }),
      ...('text' in block && { text: '' }),
      ...('input' in block && { input: {} }),
    };
    return messageBlock(index, begun, ...inner);
  });
  return [
    { type: 'message_start', message: { id: 'x', content: [], usage: { ...usage, output_tokens: 1 } } },
    ...events,
    { type: 'message_delta', delta: { stop_reason: stopReasonOf(content) }, usage: output },
    { type: 'message_stop' },
  ];
}

describe('an answer to a Responses client', () => {
  const recalled = toRecalledRequest({ model: 'm', input: 'hi', include: ['reasoning.encrypted_content'] });
  const answerContext = { id: 'resp_1', model: 'm', created: 1, promptTokens: () => 1, recalled, seal };

  it('returns unchanged to its messages upstream in the next request, streamed or not', () => {
    fc.assert(
      fc.property(blocks, sizes, (content, cut) => {
        const { text, ending } = runStream(responsesToMessages.createStream(answerContext), streamed(content, cut));
        const response = responseEvents(text).at(-1)?.['response'] as JsonObject;
        const given = { content: [...content], usage, stop_reason: stopReasonOf(content) };
        const { body, ending: atOnce } = responsesToMessages.translateReply(given, answerContext);
        expect([ending, response['usage']]).toEqual([atOnce, body['usage']]);
        for (const output of [response['output'], body['output']] as JsonObject[][]) {
          const request = { model: 'm', input: [...output, { role: 'assistant', content: 'end' }] };
          const { messages } = responsesToMessagesRequest(request, traits);
          const [turn] = messages as { content: Json }[];
          expect(turn?.content).toEqual(content.length === 0 ? 'end' : [...content, { type: 'text', text: 'end' }]);
        }
      }),
    );
  });

  it('passes through a Responses upstream to a messages client unchanged, except for the signatures of its thinking', () => {
    fc.assert(
      fc.property(blocks, sizes, (content, cut) => {
        const there = runStream(responsesToMessages.createStream(answerContext), streamed(content, cut));
        const back = assembleMessage(
          runBytes(messagesToResponses.createStream(answerContext), [Buffer.from(there.text)]),
        );
        const shown = (all: readonly JsonObject[]) => all.filter(({ type }) => type === 'text' || type === 'tool_use');
        expect(shown(back.content)).toMatchObject(shown(content));
        expect(back.usage).toMatchObject(usage);
      }),
    );
  });
});
