import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';
import { unifyReasoning } from '#shared/translate/upstreams/chat/reasoning.ts';
import { translationBetween } from '../../translation-between.ts';

function unified(message: JsonObject): JsonObject {
  unifyReasoning(message);
  return message;
}

const parts = [
  { type: 'thinking', thinking: [{ type: 'text', text: 'Two and ' }] },
  { type: 'thinking', thinking: 'two.' },
  { type: 'text', text: 'Four' },
  { type: 'text', text: '.' },
];

describe('thinking in the chat format', () => {
  it("has one field, whatever the engine's name for it", () => {
    expect(unified({ reasoning: 'hm' })).toEqual({ reasoning_content: 'hm' });
    expect(unified({ reasoning_content: 'hm', reasoning: 'hm' })).toEqual({ reasoning_content: 'hm' });
  });

  it('is separated from text if both are parts of the content', () => {
    expect(unified({ content: parts })).toEqual({ content: 'Four.', reasoning_content: 'Two and two.' });
  });

  it('in content parts reaches clients of both formats, streamed and whole', () => {
    const answerContext = { id: 'x', model: 'm', created: 1, promptTokens: () => 1 };
    const chunk = JSON.stringify({ choices: [{ index: 0, delta: { content: parts }, finish_reason: null }] });
    const whole = { choices: [{ index: 0, message: { role: 'assistant', content: parts }, finish_reason: 'stop' }] };
    for (const client of ['chat', 'messages'] as const) {
      const pair = translationBetween(client, 'chat');
      const { body } = pair.translateReply(whole, answerContext);
      for (const text of [pair.createStream(answerContext).translateEvent(chunk), JSON.stringify(body)])
        for (const part of ['Two and two.', 'Four.']) expect(text).toContain(part);
    }
  });
});
