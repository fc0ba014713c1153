import type { JsonObject } from '#shared/core/json.ts';

/** Adds the common fields of an answer of its format. */
export function wholeAnswer(upstream: string, fields: JsonObject): JsonObject {
  // The explanation of a refusal needs a refusal.
  const refused = fields['stop_details'] === undefined ? {} : { stop_reason: 'refusal' };
  // The reason of an incomplete answer needs an incomplete answer.
  const cut = fields['incomplete_details'] === undefined ? {} : { status: 'incomplete' };
  return { ...answers[upstream], ...refused, ...cut, ...fields };
}

const answers: Readonly<Record<string, JsonObject>> = {
  chat: {
    id: 'x',
    object: 'chat.completion',
    created: 1,
    model: 'upstream',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 9000, completion_tokens: 9000, total_tokens: 18_000 },
  },
  messages: {
    id: 'x',
    type: 'message',
    role: 'assistant',
    model: 'upstream',
    content: [{ type: 'text', text: 'Hi' }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 9000, output_tokens: 9000 },
  },
  responses: {
    id: 'x',
    object: 'response',
    created_at: 1,
    status: 'completed',
    model: 'upstream',
    output: [
      {
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: 'Hi' }],
      },
    ],
    usage: { input_tokens: 9000, output_tokens: 9000, total_tokens: 18_000 },
  },
};
