import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';
import type { HostedAnswer } from '#shared/formats/hosted/hosted-request.ts';
import { responsesFormat } from '#shared/formats/responses/responses-format.ts';
import { answerOne, bodyOf, openHosted } from '../../hosted/hosted-turns.ts';

const search = { type: 'web_search' };
const own = { type: 'function', name: 'f', parameters: { type: 'object' } };
const base = { model: 'm', input: 'Look it up.' };

const open = (fields: object = {}) => openHosted(responsesFormat, { ...base, tools: [search], ...fields });

/** Returns the events of a turn with these items. */
function turn(items: JsonObject[], outputTokens = 10): Buffer {
  const usage = { input_tokens: 5, output_tokens: outputTokens, total_tokens: 5 + outputTokens };
  const response = { id: 'resp_1', created_at: 1, status: 'in_progress', output: [] };
  const events: (JsonObject & { type: string })[] = [
    { type: 'response.created', response },
    ...items.flatMap((item, at) => [
      { type: 'response.output_item.added', output_index: at, item },
      { type: 'response.output_item.done', output_index: at, item },
    ]),
    { type: 'response.completed', response: { ...response, status: 'completed', output: items, usage } },
  ];
  return written(events);
}

function written(events: (JsonObject & { type: string })[]): Buffer {
  return Buffer.from(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''));
}

const call = (name = 'web_search'): JsonObject => {
  return { id: 'fc_1', type: 'function_call', call_id: 'c1', name, arguments: '{"query":"q"}' };
};

/** Takes a turn in which the model searches. */
function searchOnce(answer: HostedAnswer, outputTokens = 10): void {
  answer.writeNextRequest(false);
  answerOne(answer, turn([call()], outputTokens));
}

describe('an answer with hosted tools in the Responses format', () => {
  it("has only the client's tools in the last turn, if there are any", () => {
    const allowed = { type: 'allowed_tools', mode: 'required', tools: [search, { type: 'function', name: 'f' }] };
    const answer = open({ tools: [search, own], tool_choice: allowed });
    searchOnce(answer);
    expect(bodyOf(answer.writeNextRequest(true))).toMatchObject({
      tools: [own],
      tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'f' }] },
    });
    const alone = open();
    searchOnce(alone);
    expect(bodyOf(alone.writeNextRequest(true))).toMatchObject({
      tools: [{ name: 'web_search' }],
      tool_choice: 'none',
    });
  });

  it('counts the items that it keeps of a turn, and not their deltas', () => {
    const answer = open();
    answer.writeNextRequest(false);
    const delta = { type: 'response.output_text.delta', output_index: 0, delta: 'x' };
    answer.relay(written(Array.from({ length: 10_000 }, () => delta)));
    expect(answer.turnBytes).toBe(0);
    const text = 'x'.repeat(10_000);
    answer.relay(turn([{ id: 'msg_1', type: 'message', content: [{ type: 'output_text', text }] }]));
    expect(answer.turnBytes).toBeGreaterThan(10_000);
    expect(answer.turnBytes).toBeLessThan(11_000);
    answer.endTurn();
    answer.writeNextRequest(false);
    expect(answer.turnBytes).toBe(0);
  });

  it('requests from each turn at most the remaining output tokens', () => {
    const answer = open({ max_output_tokens: 100 });
    expect(bodyOf(answer.writeNextRequest(false))['max_output_tokens']).toBe(100);
    searchOnce(answer, 84);
    expect(bodyOf(answer.writeNextRequest(false))['max_output_tokens']).toBe(16);
  });

  it('is incomplete if a call comes with the output tokens used up', () => {
    const answer = open({ max_output_tokens: 100 });
    answer.writeNextRequest(false);
    answer.relay(turn([call()], 85));
    expect(answer.endTurn()).toEqual([]);
    expect(answer.isComplete).toBe(true);
    expect(answer.finish()).toContain('event: response.incomplete');
    expect(answer.buildWholeAnswer()).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [{ type: 'web_search_call', status: 'failed' }],
    });
  });

  it('leaves the annotations of an upstream unchanged', () => {
    const answer = open();
    searchOnce(answer);
    answer.writeNextRequest(false);
    const text = 'See https://found.example/.';
    const own = { type: 'url_citation', url: 'https://other.example/', title: 'O', start_index: 0, end_index: 3 };
    const part = { type: 'output_text', text, annotations: [own] };
    const item = { id: 'msg_1', type: 'message', content: [part] };
    const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };
    const said = [
      { type: 'response.output_item.added', output_index: 0, item: { ...item, content: [] } },
      { type: 'response.output_text.annotation.added', ...place, annotation_index: 0, annotation: own },
      { type: 'response.output_text.done', ...place, text },
      { type: 'response.content_part.done', ...place, part },
      { type: 'response.output_item.done', output_index: 0, item },
    ];
    const events = answer.relay(written(said));
    expect(events.match(/event: response.output_text.annotation.added/g)).toHaveLength(1);
    expect(answer.buildWholeAnswer()).toMatchObject({ output: { 1: { content: [{ annotations: [own] }] } } });
  });

  it('offers a tool that is added twice under one name, and lists its server once', () => {
    const server = { type: 'mcp', server_label: 'wiki', require_approval: 'never' };
    const answer = open({ tools: [search, server], input: [{ type: 'additional_tools', tools: [search, server] }] });
    const { tools, input } = bodyOf(answer.writeNextRequest(false));
    const named = [{ name: 'web_search' }, { name: 'mcp_wiki_find' }];
    expect(tools).toMatchObject(named);
    expect(input).toMatchObject([{ tools: named }]);
    answer.relay(turn([call('mcp_wiki_find')]));
    expect(answer.endTurn()).toMatchObject([{ hosted: { param: 'input[0].tools[1].type' } }]);
    expect(answer.finish().match(/event: response.mcp_call.failed/g)).toHaveLength(1);
    expect(answer.buildWholeAnswer()).toMatchObject({ output: [{ type: 'mcp_list_tools' }, { type: 'mcp_call' }] });
  });

  it('runs an approved call once if the input repeats it, and as the last response to it says', () => {
    const server = { type: 'mcp', server_label: 'wiki' };
    const asked = { type: 'mcp_approval_request', id: 'r', server_label: 'wiki', name: 'find', arguments: '{}' };
    const response = (approve: boolean) => ({ type: 'mcp_approval_response', approval_request_id: 'r', approve });
    const calls = (...input: object[]) => open({ tools: [server], input }).approvedCalls;
    expect(calls(asked, response(true), asked, response(true))).toMatchObject([{ id: 'r' }]);
    expect(calls(asked, response(true), response(false))).toEqual([]);
  });

  it.each(['additional_tools', 'tool_search_output'])('runs a tool that an item of the input adds: %s', (type) => {
    const input = [
      { role: 'user', content: 'Look it up.' },
      { type, tools: [own, search] },
    ];
    const answer = open({ input, tools: undefined });
    const { tools, input: sent } = bodyOf(answer.writeNextRequest(false));
    expect(tools).toEqual([]);
    expect(sent).toMatchObject([
      { role: 'user' },
      { type, tools: [own, { type: 'function', name: 'web_search', parameters: expect.anything() }] },
    ]);
    answerOne(answer, turn([call()]));
    expect(answer.buildWholeAnswer()).toMatchObject({ output: [{ type: 'web_search_call', status: 'completed' }] });
    expect(bodyOf(answer.writeNextRequest(true))).toMatchObject({ input: { 1: { tools: [own] } } });
  });
});
