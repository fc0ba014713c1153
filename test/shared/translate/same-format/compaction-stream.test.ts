import { describe, expect, it } from 'vitest';
import { createSealer } from '#shared/core/seal.ts';
import { responsesToResponses } from '#shared/translate/same-format/responses-to-responses.ts';
import { runStream } from '../run-stream.ts';

const { seal, unseal } = createSealer(Buffer.alloc(32, 3));
const asked = { role: 'user', content: 'hi' };
const body = { model: 'm', input: [asked, { type: 'compaction_trigger' }] };
const recalled = responsesToResponses.recallFields?.(body);
const answerContext = { id: 'resp_0a1b', model: 'm', created: 7, recalled, seal };

const response = { id: 'resp_up', model: 'm', tools: [], output: [] };
const created = { type: 'response.created', sequence_number: 0, response };

function ended(output: object[]): object {
  return { type: 'response.completed', sequence_number: 9, response: { ...response, status: 'completed', output } };
}

describe('a request that compacts its conversation, on a Responses upstream', () => {
  it('passes to an upstream that compacts, and so does its item', () => {
    expect(responsesToResponses.translateRequest(body, { model: 'm', compacts: true, unseal })['input']).toEqual(
      body.input,
    );
    const item = { id: 'cmp_up', type: 'compaction', encrypted_content: 'gAAAtheirs' };
    const done = { type: 'response.output_item.done', sequence_number: 1, output_index: 0, item };
    const events = [created, done, ended([item])];
    const { text } = runStream(responsesToResponses.createStream(answerContext), events);
    expect(text).toBe(
      runStream(responsesToResponses.createStream({ ...answerContext, recalled: undefined }), events).text,
    );
    expect(text).toContain(JSON.stringify(item));
    expect(responsesToResponses.translateReply({ ...response, output: [item] }, answerContext).body['output']).toEqual([
      item,
    ]);
  });

  it('asks any other upstream for a summary, which becomes the item', () => {
    const { input } = responsesToResponses.translateRequest(body, { model: 'm', unseal });
    expect(JSON.stringify(input)).not.toContain('compaction_trigger');
    const content = [{ type: 'output_text', text: 'So far.' }];
    const message = { id: 'msg', type: 'message', role: 'assistant', content };
    const delta = { type: 'response.output_text.delta', item_id: 'msg', delta: 'So far.' };
    const events = [created, delta, ended([message])];
    const { text, ending } = runStream(responsesToResponses.createStream(answerContext), events);
    expect(text).not.toContain('output_text');
    expect(ending.finishReason).toBe('stop');
    const answer = { ...response, status: 'completed', output: [message] };
    const { output } = responsesToResponses.translateReply(answer, answerContext).body;
    expect(output).toMatchObject([{ type: 'compaction' }]);
    const next = { model: 'm', input: [...(output as object[] as never[]), asked] };
    expect(JSON.stringify(responsesToResponses.translateRequest(next, { model: 'm', unseal }))).toContain('So far.');
  });

  it('fails without a summary', () => {
    expect(() => runStream(responsesToResponses.createStream(answerContext), [created, ended([])])).toThrow(
      /no summary/,
    );
  });
});
