import { describe, expect, it } from 'vitest';
import { createSealer } from '#shared/core/seal.ts';
import { noUsage } from '#shared/core/usage.ts';
import { createCompactionItem, expandCompaction, expandSummaries } from '#shared/translate/responses/compaction.ts';
import { toRecalledRequest } from '#shared/translate/responses/recalled-request.ts';
import { ResponsesAnswerWriter } from '#shared/translate/responses/responses-answer-writer.ts';
import { responseEvents } from './assemble-response.ts';
import { errorWith } from '../../../helpers/error-with.ts';

const { seal, unseal } = createSealer(Buffer.alloc(32, 7));
const ending = { finishReason: 'stop', usage: { ...noUsage, promptTokens: 20, completionTokens: 9 } };
const asked = { role: 'user', content: 'Rename the function.' };
const trigger = { type: 'compaction_trigger' };
const tool = { type: 'function', name: 'f', parameters: {} };

function answerTo(body: object, given: { seal: typeof seal } | null = { seal }): ResponsesAnswerWriter {
  const recalled = toRecalledRequest({ ...body });
  return new ResponsesAnswerWriter({ id: 'resp_0a1b', model: 'served', created: 7, recalled, ...given });
}

describe('a request that ends in a compaction trigger', () => {
  const body = { model: 'm', input: [asked, trigger], tools: [tool], text: { format: { type: 'json_schema' } } };

  it('asks for a summary in place of the trigger, without tool calls and without a format', () => {
    const { input, text, tool_choice: choice, tools } = expandCompaction(body, unseal);
    expect(input).toMatchObject([asked, { type: 'message', role: 'user' }]);
    expect(JSON.stringify(input)).toContain('Write a summary of this conversation');
    expect([text, choice, tools]).toEqual([undefined, 'none', [tool]]);
    expect(expandCompaction({ model: 'm', input: [asked, trigger] }, unseal)).not.toHaveProperty('tool_choice');
  });

  it('is answered with exactly one compaction item, whatever the model writes', () => {
    const answer = answerTo(body);
    const begun = answer.begin();
    const call = { index: 0, id: 'c', isFirst: true, name: 'f', arguments: '{}' };
    const said = [
      answer.addThinking('Hm.'),
      answer.addText('They want '),
      answer.addCall(call),
      answer.addText('a new name.'),
    ];
    expect(said).toEqual(['', '', '', '']);
    const stream = begun + answer.finish(ending);
    const types = responseEvents(stream).map(({ type }) => type.replace('response.', ''));
    expect(types).toEqual(['created', 'in_progress', 'output_item.added', 'output_item.done', 'completed']);
    const item = { id: 'cmp_0a1b', type: 'compaction', encrypted_content: expect.any(String) as string };
    expect(answer.response['output']).toEqual([item]);
    expect(stream).not.toContain('new name');
  });

  it('fails if the model writes nothing, or while nothing can be sealed', () => {
    expect(() => answerTo(body).finish(ending)).toThrow(errorWith('upstream_failed'));
    const unsealed = answerTo(body, null);
    unsealed.addText('A summary.');
    expect(() => unsealed.finish(ending)).toThrow(errorWith('store_unavailable'));
  });
});

describe('a request that continues after a compaction item', () => {
  const item = createCompactionItem({ id: 'resp_1', seal }, 'They want a new name.');

  it('gives the model the summary', () => {
    const { input } = expandCompaction({ model: 'm', input: [item, asked] }, unseal);
    expect(JSON.stringify(input)).toContain('They want a new name.');
    expect(input).toMatchObject([{ type: 'message', role: 'user' }, asked]);
  });

  it('is refused if the item was sealed for another owner, and passes to an upstream that may have made it', () => {
    const other = createSealer(Buffer.alloc(32, 8)).unseal;
    const refused = errorWith('invalid_request', { param: 'input[1].encrypted_content' });
    expect(() => expandCompaction({ model: 'm', input: [asked, item] }, other)).toThrow(refused);
    const body = { model: 'm', input: [item, trigger] };
    expect(expandSummaries(body, other)).toEqual(body);
    const own = expandSummaries(body, unseal);
    expect(own['input']).toMatchObject([{ type: 'message' }, trigger]);
  });

  it("fails with a repeatable error while the owner's key is unknown", () => {
    const unknown = errorWith('store_unavailable', { retryAfter: 2 });
    expect(() => expandCompaction({ model: 'm', input: [item] }, undefined)).toThrow(unknown);
    expect(() => expandSummaries({ model: 'm', input: [item] }, undefined)).toThrow(unknown);
  });

  it('stays the same object if it has no compaction items', () => {
    const body = { model: 'm', input: [asked] };
    expect(expandCompaction(body, unseal)).toBe(body);
    const text = { model: 'm', input: 'Hi' };
    expect(expandCompaction(text, unseal)).toBe(text);
  });
});
