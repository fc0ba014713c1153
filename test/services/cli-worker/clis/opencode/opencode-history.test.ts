import { describe, expect, it } from 'vitest';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { isHistoryMessage, OpencodeHistories } from '#services/cli-worker/clis/opencode/opencode-history.ts';
import { textBlock } from '../../../../helpers/formats/said.ts';

const model = { providerID: 'p', modelID: 'm' };
const message = (role: string, ...content: JsonObject[]): JsonObject => ({ type: 'message', role, content });
const text = (value: string): JsonObject => ({ type: 'input_text', text: value });
const called = { type: 'function_call', name: 'client_f' };
const call = (id: string, json: string): JsonObject => ({ ...called, call_id: id, arguments: json });
const returned = { type: 'function_call_output' };
const result = (id: string, output: string | JsonObject[]): JsonObject => ({ ...returned, call_id: id, output });

/** Returns the roles of the messages in the events, each with its parts. */
function messagesIn(events: readonly JsonObject[]): [unknown, JsonObject[]][] {
  const messages: [unknown, JsonObject[]][] = [];
  for (const { data } of events) {
    if (!isJsonObject(data)) continue;
    if (isJsonObject(data['info'])) messages.push([data['info']['role'], []]);
    else if (isJsonObject(data['part'])) messages.at(-1)?.[1].push(data['part']);
  }
  return messages;
}

describe('a history for opencode', () => {
  it('has a turn for each turn, and calls with their results', () => {
    const url = 'data:image/png;base64,AAAA';
    const events = new OpencodeHistories().createEvents('ses_1', model, [
      message('user', text('one'), { type: 'input_image', image_url: url }),
      message('assistant', text('two')),
      call('a', '{"n":1}'),
      call('b', '{"n":'),
      result('b', [text('three'), text('four')]),
      result('a', 'five'),
      message('assistant', text('six')),
      message('user', text('seven')),
      message('user', { type: 'input_file', file_data: 'data:application/pdf;base64,AAAA' }),
    ]);
    const tool = { type: 'tool', tool: 'client_f' };
    expect(messagesIn(events)).toMatchObject([
      ['user', [textBlock('one'), { type: 'file', mime: 'image/png', url }]],
      [
        'assistant',
        [
          textBlock('two'),
          { ...tool, callID: 'a', state: { status: 'completed', input: { n: 1 }, output: 'five' } },
          { ...tool, callID: 'b', state: { input: { _raw: '{"n":' }, output: 'three\nfour' } },
        ],
      ],
      ['assistant', [textBlock('six')]],
      ['user', [textBlock('seven')]],
      ['user', [{ type: 'file', mime: 'application/pdf' }]],
    ]);
  });

  it('is numbered from the event after the creation of its session, with unique ids', () => {
    const histories = new OpencodeHistories();
    const all = ['ses_1', 'ses_2'].map((id) => histories.createEvents(id, model, [message('user', text('hi'))]));
    for (const events of all) expect(events.map(({ seq }) => seq)).toEqual([1, 2]);
    const ids = all.flat().map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const messageIds = all.flatMap(([first]) =>
      isJsonObject(first?.['data']) && isJsonObject(first['data']['info']) ? [first['data']['info']['id']] : [],
    );
    expect(new Set(messageIds).size).toBe(2);
    expect(messageIds.every(isHistoryMessage)).toBe(true);
    expect(isHistoryMessage('msg_2192c0656001W4g23x2NDRlSZy')).toBe(false);
  });
});
