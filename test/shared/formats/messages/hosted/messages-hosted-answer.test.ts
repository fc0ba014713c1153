import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';
import type { HostedAnswer } from '#shared/formats/hosted/hosted-request.ts';
import { messagesFormat } from '#shared/formats/messages/messages-format.ts';
import { answerOne, bodyOf, firstOf, found, openHosted } from '../../hosted/hosted-turns.ts';
import { messageBlock, messageStart } from '../../../translate/upstream-streams.ts';
import { said, textBlock } from '../../../../helpers/formats/said.ts';

const search = { type: 'web_search_20250305', name: 'web_search' };
const base = { model: 'm', max_tokens: 100, messages: [said('user', 'See https://named.example/a')] };

const open = (fields: object = {}) => openHosted(messagesFormat, { ...base, tools: [search], ...fields });

/** Returns an answer that has relayed the first turn of the model. */
function openWith(turn: string, isLast = false): HostedAnswer {
  const answer = open();
  answer.writeNextRequest(isLast);
  answer.relay(Buffer.from(turn));
  return answer;
}

type Block = [block: JsonObject, ...deltas: JsonObject[]];

/** Returns the events of a turn with these blocks, each with its deltas. */
function turn(blocks: Block[], stop_reason: string, output_tokens = 10): string {
  return [
    messageStart,
    ...blocks.flatMap(([block, ...deltas], index) => messageBlock(index, block, ...deltas)),
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens } },
    { type: 'message_stop' },
  ]
    .map((event) => `event: ${event['type'] as string}\ndata: ${JSON.stringify(event)}\n\n`)
    .join('');
}

const call = (id: string, json: string): Block => [
  { type: 'tool_use', id, name: 'web_search', input: {} },
  { type: 'input_json_delta', partial_json: json.slice(0, 3) },
  { type: 'input_json_delta', partial_json: json.slice(3) },
];

describe('an answer with hosted tools in the messages format', () => {
  it('counts the texts that it keeps of a turn', () => {
    const delta = { type: 'text_delta', text: 'x'.repeat(1_000) };
    const answer = openWith(turn([[textBlock(''), ...Array.from({ length: 10 }, () => delta)]], 'end_turn'));
    expect(answer.turnBytes).toBeGreaterThan(10_000);
    expect(answer.turnBytes).toBeLessThan(12_000);
    const calling = openWith(turn([call('c1', `{"query":"${'x'.repeat(10_000)}"}`)], 'tool_use'));
    expect(calling.turnBytes).toBeGreaterThan(10_000);
  });

  it('gives the model a function and then its results', () => {
    const answer = open({ tool_choice: { type: 'any', disable_parallel_tool_use: true } });
    const first = bodyOf(answer.writeNextRequest(false));
    expect(first['stream']).toBe(true);
    expect(first['tools']).toEqual([expect.objectContaining({ name: 'web_search', input_schema: expect.anything() })]);
    const thinking: Block = [
      { type: 'thinking', thinking: '', signature: '' },
      { type: 'thinking_delta', thinking: 'hm' },
      { type: 'signature_delta', signature: 's' },
    ];
    // Pieces end within events and within characters.
    for (const byte of Buffer.from(turn([thinking, call('c1', '{"query":"ö"}')], 'tool_use')))
      answer.relay(Uint8Array.of(byte));
    const asked = firstOf(answer.endTurn());
    expect(asked).toMatchObject({ input: { query: 'ö' }, servedTool: { name: 'find' } });
    expect(answer.isComplete).toBe(false);
    answer.answerCall(asked, found);
    const second = bodyOf(answer.writeNextRequest(false));
    expect(second).toMatchObject({
      max_tokens: 90,
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
      messages: [
        ...base.messages,
        said('assistant', [
          { type: 'thinking', thinking: 'hm', signature: 's' },
          { type: 'tool_use', id: 'c1', name: 'web_search', input: { query: 'ö' } },
        ]),
        said('user', [{ type: 'tool_result', tool_use_id: 'c1', content: '1. T\nhttps://found.example/\nx' }]),
      ],
    });
    expect(bodyOf(answer.writeNextRequest(true))['tool_choice']).toEqual({ type: 'none' });
  });

  it('offers a deferred tool once the conversation refers to it', () => {
    const { tools } = bodyOf(open({ tools: [{ ...search, defer_loading: true }] }).writeNextRequest(false));
    expect(tools).toMatchObject([{ name: 'web_search', defer_loading: true }]);
  });

  it("has only the client's tools in the last turn, if there are any", () => {
    const own = { name: 'f', input_schema: { type: 'object' } };
    const answer = open({ tools: [search, own], tool_choice: { type: 'any' } });
    answer.writeNextRequest(false);
    answerOne(answer, Buffer.from(turn([call('c1', '{"query":"q"}')], 'tool_use')));
    expect(bodyOf(answer.writeNextRequest(true))).toMatchObject({ tools: [own], tool_choice: { type: 'auto' } });
  });

  it.each([
    ['stays while it is below the limit', 500, 2_000, { type: 'enabled', budget_tokens: 2_000 }],
    ['keeps its share of the limit', 1_000, 2_000, { type: 'enabled', budget_tokens: 1_333 }],
    ['is none below the least budget', 2_000, 2_000, { type: 'disabled' }],
    ['stays if it was above the limit already', 2_000, 3_000, { type: 'enabled', budget_tokens: 3_000 }],
  ])('has in a later turn thinking that %s', (_, used, budget, expected) => {
    const edits = [{ type: 'clear_thinking_20251015' }, { type: 'clear_tool_uses_20250919' }];
    const thinking = { type: 'enabled', budget_tokens: budget };
    const answer = open({ max_tokens: 3_000, thinking, context_management: { edits } });
    expect(bodyOf(answer.writeNextRequest(false))).toMatchObject({
      max_tokens: 3_000,
      thinking: { budget_tokens: budget },
    });
    answerOne(answer, Buffer.from(turn([call('c1', '{"query":"q"}')], 'tool_use', used)));
    const isOff = expected.type === 'disabled';
    expect(bodyOf(answer.writeNextRequest(false))).toMatchObject({
      max_tokens: 3_000 - used,
      thinking: expected,
      // Upstreams refuse to clear thinking while thinking is off.
      context_management: { edits: isOff ? edits.slice(1) : edits },
    });
  });

  it('ends with max_tokens if a call comes with the output tokens used up', () => {
    const answer = openWith(turn([call('c1', '{"query":"q"}')], 'tool_use', 100));
    expect(answer.endTurn()).toEqual([]);
    expect(answer.isComplete).toBe(true);
    answer.finish();
    expect(answer.buildWholeAnswer()).toMatchObject({
      stop_reason: 'max_tokens',
      content: [{ type: 'server_tool_use' }, { content: { error_code: 'unavailable' } }],
    });
  });

  it('runs no call that was cut off', () => {
    const answer = openWith(turn([call('c1', '{"que')], 'max_tokens'));
    expect(answer.endTurn()).toEqual([]);
    expect(answer.isComplete).toBe(true);
    expect(answer.finish()).toContain('web_search_tool_result_error');
    expect(answer.buildWholeAnswer()).toMatchObject({ stop_reason: 'max_tokens' });
  });

  it('has a call with an empty input if its arguments are not an object', () => {
    const answer = openWith(turn([call('c1', '"badgers"')], 'tool_use'));
    expect(firstOf(answer.endTurn()).input).toEqual({});
  });

  it('ends calls without an outcome as failed', () => {
    const answer = openWith(turn([call('c1', '{"query":"q"}')], 'tool_use'), true);
    answer.endTurn();
    expect(answer.finish()).toContain('web_search_tool_result_error');
    expect(answer.buildWholeAnswer()).toMatchObject({
      stop_reason: 'end_turn',
      content: [{ type: 'server_tool_use' }, { content: { error_code: 'unavailable' } }],
    });
  });

  it('cites the search results that a text names, without showing the citations to the model', () => {
    const answer = open();
    const text = 'As [T](https://found.example/) and https://found.example/ say.';
    const before: Block = [textBlock(''), { type: 'text_delta', text }];
    answer.writeNextRequest(false);
    // No search has run yet.
    const begun = answer.relay(Buffer.from(turn([before, call('c1', '{"query":"q"}')], 'tool_use')));
    expect(begun).not.toContain('citation');
    answer.answerCall(firstOf(answer.endTurn()), found);
    answer.writeNextRequest(false);
    const upstream: Block = [...before, { type: 'citations_delta', citation: { type: 'own' } }];
    const events = answer.relay(Buffer.from(turn([before, upstream, call('c2', '{"query":"q"}')], 'tool_use')));
    expect(events.match(/"citations_delta"/g)).toHaveLength(2);
    answer.answerCall(firstOf(answer.endTurn()), found);
    const citation = {
      type: 'web_search_result_location',
      url: 'https://found.example/',
      title: 'T',
      encrypted_index: expect.any(String) as string,
      cited_text: '',
    };
    answer.finish();
    const cited = { text, citations: [citation] };
    const citedBefore = { text, citations: [{ type: 'own' }] };
    expect(answer.buildWholeAnswer()).toMatchObject({ content: { 0: textBlock(text), 3: cited, 4: citedBefore } });
    expect(bodyOf(answer.writeNextRequest(false))).toMatchObject({
      messages: { 3: { content: { 0: textBlock(text) } } },
    });
    expect(answer.writeNextRequest(false).toString()).not.toContain('web_search_result_location');
  });

  it('knows which addresses anybody but the model has named', () => {
    const answer = open();
    answer.writeNextRequest(false);
    answerOne(answer, Buffer.from(turn([call('c1', '{"query":"https://invented.example/"}')], 'tool_use')));
    const known = ['https://named.example/a', 'https://found.example/', 'https://invented.example/'];
    expect(known.map((url) => answer.namesAddress(url))).toEqual([true, true, false]);
  });

  it.each([
    ['{"type":"content_block_delta","index":3,"delta":{}}', 'not open'],
    ['[]', 'could not be read'],
    ['{', 'could not be read'],
  ])('refuses an invalid event: %s', (data, message) => {
    expect(() => openWith(`event: x\ndata: ${data}\n\n`)).toThrow(message);
  });
});
