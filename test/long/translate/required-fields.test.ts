import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';
import { lackedFields } from '../../helpers/official-types/lacked-fields.ts';
import { readSchemas, type BodySchema, type BodyType } from '../../helpers/official-types/schemas.ts';
import { wholeAnswer } from '../../helpers/official-types/whole-answer.ts';
import { namedEvents } from '../../shared/translate/assemble-message.ts';
import { runStream } from '../../shared/translate/run-stream.ts';
import { translationBetween } from '../../shared/translate/translation-between.ts';
import { upstreamStreams } from '../../shared/translate/upstream-streams.ts';

let schemaOf: (type: BodyType) => BodySchema;
beforeAll(() => {
  schemaOf = readSchemas();
});

const minted = { id: 'own', model: 'served', created: 7 };
const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
const answers = {
  chat: { choices: [{ message: { role: 'assistant', content: 'a', tool_calls: [call] }, finish_reason: 'stop' }] },
  messages: { content: [{ type: 'text', text: 'a' }], stop_reason: 'end_turn', usage: {} },
  responses: {
    status: 'completed',
    output: [
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'a' }] },
      { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
    ],
  },
};

function wholeTo(client: string, upstream: keyof typeof answers): JsonObject[] {
  const { reply } = translationBetween(client, upstream);
  return [answers[upstream], wholeAnswer(upstream, {})].map((answer) => reply(answer, minted).body);
}

it.each(['chat', 'messages', 'responses'] as const)(
  'the answer of a %s upstream has all fields that a chat client needs',
  (upstream) => {
    for (const body of wholeTo('chat', upstream)) expect(lackedFields(schemaOf('ChatAnswer'), body)).toEqual([]);
  },
);

describe.each(['chat', 'responses'] as const)("a %s upstream's answer", (upstream) => {
  it('has all fields that the types for a messages client require', () => {
    for (const body of wholeTo('messages', upstream))
      expect(lackedFields(schemaOf('MessagesAnswer'), body)).toEqual([]);
  });

  it('has them as a stream, too', () => {
    const { text } = runStream(translationBetween('messages', upstream).stream(minted), upstreamStreams[upstream]);
    const events = namedEvents(text).filter(({ type }) => type !== 'ping');
    expect(events.flatMap((event) => lackedFields(schemaOf('MessagesEvent'), event))).toEqual([]);
  });
});
