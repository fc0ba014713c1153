import OpenAI from 'openai';
import OpenAI6 from 'openai-6';
import { describe, expect, it } from 'vitest';
import { createSealer } from '#shared/core/seal.ts';
import { noUsage } from '#shared/core/usage.ts';
import type { ResponsesReasoning } from '#shared/formats/responses/request.ts';
import { toRecalledRequest } from '#shared/translate/responses/recalled-request.ts';
import { ResponsesAnswerWriter } from '#shared/translate/responses/responses-answer-writer.ts';
import { readReasoning } from '#shared/translate/responses/sealed-thinking.ts';
import { sdkAnswer } from '../../../helpers/clients/sdk-answer.ts';
import { assembleResponse, responseEvents } from './assemble-response.ts';

const { seal, unseal } = createSealer(Buffer.alloc(32, 7));
const answerContext = { id: 'resp_0a1b', model: 'served', created: 7, now: () => 9, seal };
const usage = { ...noUsage, promptTokens: 20, cachedTokens: 5, completionTokens: 9 };

const request = {
  model: 'auto',
  instructions: 'Be brief.',
  metadata: { ticket: '12' },
  reasoning: { effort: 'low', summary: 'auto' },
  include: ['reasoning.encrypted_content'],
  tools: [
    { type: 'function', name: 'f', parameters: { type: 'object' } },
    { type: 'custom', name: 'apply_patch' },
    { type: 'tool_search', execution: 'client', parameters: { type: 'object' } },
    { type: 'namespace', name: 'mcp__tt', tools: [{ type: 'function', name: 'echo' }] },
  ],
};

function answerTo(body: object): ResponsesAnswerWriter {
  return new ResponsesAnswerWriter({ ...answerContext, recalled: toRecalledRequest({ ...body }) });
}

function call(index: number, name: string | undefined, text: string, id = `call_${index}`) {
  return { index, id, isFirst: name !== undefined, name, arguments: text };
}

function wholeAnswer(): { answer: ResponsesAnswerWriter; stream: string } {
  const answer = answerTo(request);
  const stream = [
    answer.begin(),
    ...['h', 'm'].map((text) => answer.addThinking(text)),
    ...['Hel', 'lo'].map((text) => answer.addText(text)),
    answer.addCall(call(0, 'f', '{"x"')),
    answer.addCall(call(1, 'apply_patch', '{"input":"*** Begin')),
    answer.addCall(call(0, undefined, ':1}')),
    answer.addCall(call(1, undefined, ' Patch\\n\\ud83e')),
    answer.addCall(call(1, undefined, '\\udda1"}')),
    answer.addCall(call(2, 'mcp__tt__echo', '')),
    answer.addCall(call(3, 'tool_search', '{"query":"q"}')),
    answer.addItem({ type: 'web_search_call', status: 'completed' }),
    answer.addRefusal('No.'),
    answer.finish({ finishReason: 'tool_calls', usage }),
  ].join('');
  return { answer, stream };
}

describe('an answer of the Responses format', () => {
  it("has every kind of item, one after the other, with the client's names of its tools", () => {
    const { answer, stream } = wholeAnswer();
    const { response, items } = assembleResponse(stream);
    const called = (index: number, name: string) => ({ call_id: `call_${index}`, name });
    expect(answer.hasContent).toBe(true);
    expect(answer.response).toEqual(response);
    expect(items.map(({ status }) => status)).toEqual(items.map(() => 'completed'));
    const text = { type: 'output_text', text: 'Hello', annotations: [], logprobs: [] };
    expect(items.map(({ status: _status, ...item }) => item)).toEqual([
      {
        id: 'rs_0a1b_0',
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: 'hm' }],
        content: [{ type: 'reasoning_text', text: 'hm' }],
        encrypted_content: expect.any(String) as string,
      },
      { id: 'msg_0a1b_1', type: 'message', role: 'assistant', content: [text] },
      { id: 'fc_0a1b_2', type: 'function_call', ...called(0, 'f'), arguments: '{"x":1}' },
      { id: 'ctc_0a1b_3', type: 'custom_tool_call', ...called(1, 'apply_patch'), input: '*** Begin Patch\n🦡' },
      { id: 'fc_0a1b_4', type: 'function_call', ...called(2, 'echo'), namespace: 'mcp__tt', arguments: '{}' },
      { id: 'tsc_0a1b_5', type: 'tool_search_call', call_id: 'call_3', execution: 'client', arguments: { query: 'q' } },
      { id: 'item_0a1b_6', type: 'web_search_call' },
      { id: 'msg_0a1b_7', type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
    ]);
    const own = { id: 'resp_0a1b', object: 'response', created_at: 7, completed_at: 9, model: 'served' };
    const asked = { instructions: 'Be brief.', metadata: { ticket: '12' } };
    expect(response).toMatchObject({ ...own, status: 'completed', ...asked });
    expect(response['usage']).toMatchObject({
      input_tokens: 20,
      input_tokens_details: { cached_tokens: 5 },
      output_tokens: 9,
      output_tokens_details: { reasoning_tokens: 1 },
      total_tokens: 29,
    });
  });

  it.each([
    ['current', OpenAI],
    ['Node 20', OpenAI6],
  ])("is assembled by OpenAI's SDK, the %s one", async (_, Client) => {
    const { answer, stream } = wholeAnswer();
    const client = new Client(sdkAnswer(stream)) as OpenAI;
    const final = await client.responses.stream({ model: 'm', input: 'hi' }).finalResponse();
    expect(final).toMatchObject({ id: 'resp_0a1b', output_text: 'Hello', status: 'completed' });
    expect(final.output).toMatchObject(answer.response['output'] as object[]);
  });

  it('writes at once every piece that need not wait', () => {
    const answer = answerTo(request);
    const types = (text: string): string[] => responseEvents(text).map(({ type }) => type.replace('response.', ''));
    expect(types(answer.begin())).toEqual(['created', 'in_progress']);
    expect(types(answer.addText('a'))).toEqual(['output_item.added', 'content_part.added', 'output_text.delta']);
    expect(types(answer.addText('b'))).toEqual(['output_text.delta']);
    const ends = ['output_text.done', 'content_part.done', 'output_item.done'];
    const inputDelta = 'custom_tool_call_input.delta';
    const begun = types(answer.addCall(call(0, 'apply_patch', '{"input": "a')));
    expect(begun).toEqual([...ends, 'output_item.added', inputDelta]);
    expect(types(answer.addCall(call(0, undefined, 'b\\')))).toEqual([inputDelta]);
    expect(types(answer.addCall(call(0, undefined, 'n')))).toEqual([inputDelta]);
  });

  it.each([
    ['length', 'max_output_tokens'],
    ['content_filter', 'content_filter'],
  ])('is incomplete when it ends with %s', (finishReason, reason) => {
    const answer = answerTo({});
    const stream = answer.begin() + answer.addText('cut o') + answer.finish({ finishReason, usage });
    const { response, items, events } = assembleResponse(stream);
    expect(events.at(-1)?.type).toBe('response.incomplete');
    expect(response).toMatchObject({ status: 'incomplete', incomplete_details: { reason }, completed_at: null });
    expect(items).toMatchObject([{ status: 'incomplete' }]);
  });

  it("seals thinking, and the upstream's state of it, for its owner alone", () => {
    const answer = answerTo(request);
    answer.begin();
    answer.addThinking('one');
    answer.sealReasoning({ signature: 's1' });
    answer.addThinking('two');
    answer.sealReasoning({ signature: 's2' });
    answer.sealReasoning({ redacted: 'r' });
    answer.finish({ finishReason: 'stop', usage });
    const items = answer.response['output'] as ResponsesReasoning[];
    expect(items.map((item) => readReasoning(item, unseal))).toEqual([
      { text: 'one', sealed: { signature: 's1' } },
      { text: 'two', sealed: { signature: 's2' } },
      { text: '', sealed: { redacted: 'r' } },
    ]);
    const other = createSealer(Buffer.alloc(32, 8));
    expect(readReasoning(items[0] ?? { type: 'reasoning' }, other.unseal)).toEqual({ text: 'one', sealed: undefined });
  });
});
