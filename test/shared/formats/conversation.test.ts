import { describe, expect, it } from 'vitest';
import { chatFormat } from '#shared/formats/chat/chat-format.ts';
import type { Conversation } from '#shared/formats/request-signs.ts';
import { responsesFormat } from '#shared/formats/responses/responses-format.ts';
import { messagesFormat } from '#shared/formats/messages/messages-format.ts';
import { said, textBlock } from '../../helpers/formats/said.ts';

const user = (text: string) => said('user', text);
const assistant = (text: string) => said('assistant', text);

function read(format: typeof chatFormat, body: object): Conversation {
  const request = { model: 'm', max_tokens: 9, ...body };
  const { conversation } = format.read(Buffer.from(JSON.stringify(request)), 'generate').parameters;
  if (!conversation) throw new Error('the request belongs to no conversation');
  return conversation;
}

const chat = (system: string, turns: object[], fields: object = {}) =>
  read(chatFormat, { messages: [{ role: 'system', content: system }, ...turns], ...fields });
const messages = (system: string, turns: object[], fields: object = {}) =>
  read(messagesFormat, { system, messages: turns, ...fields });

const responses = (system: string, turns: object[], fields: object = {}) =>
  read(responsesFormat, { instructions: system, input: turns, ...fields });

describe.each([
  ['chat', chat],
  ['messages', messages],
  ['responses', responses],
])('the digest of a conversation of %s', (_, conversation) => {
  const first = conversation('Be brief.', [user('one')]);

  it('has the same start at each turn of the conversation', () => {
    const turns = [user('one'), assistant('1'), user('two'), assistant('2'), user('three')];
    expect(conversation('Be brief.', turns, { temperature: 0.5, stream: true })).toEqual(first);
  });

  it('has another start with other instructions or another first message', () => {
    const starts = [
      first,
      conversation('Be long.', [user('one')]),
      conversation('Be brief.', [user('two'), assistant('1'), user('one')]),
      conversation('Be brief.one', [user('')]),
    ];
    expect(new Set(starts.map(({ start }) => start)).size).toBe(4);
  });

  it('has another start after a compaction, which replaces its first message', () => {
    const before = conversation('Be brief.', [user('one'), assistant('1'), user('two')]);
    const after = conversation('Be brief.', [user('Summary: one, 1.'), assistant('I see.'), user('two')]);
    expect(after.start).not.toBe(before.start);
  });

  it('has the same start if only cache marks move', () => {
    const type = conversation === responses ? 'input_text' : 'text';
    const partsOf = (...texts: string[]) => texts.map((text) => ({ type, text }));
    const marked = [{ type, text: 'one', cache_control: { type: 'ephemeral' } }];
    const turn = (content: object) => conversation('Be brief.', [{ role: 'user', content }]).start;
    expect(turn(marked)).toBe(turn(partsOf('one')));
    expect(turn(partsOf('one', 'two'))).not.toBe(turn(partsOf('one', 'three')));
  });

  it('depends on both ends of long texts', () => {
    const middle = 'x'.repeat(100_000);
    const starts = ['a', 'b'].flatMap((end) => [
      conversation('Be brief.', [user(`${end}${middle}`)]),
      conversation('Be brief.', [user(`${middle}${end}`)]),
    ]);
    expect(new Set(starts.map(({ start }) => start)).size).toBe(4);
  });
});

describe.each([
  ['chat', chat],
  ['responses', responses],
])('the digest of a conversation of %s', (_, conversation) => {
  it('has the name from prompt_cache_key', () => {
    const named = (name: unknown) => conversation('Be brief.', [user('one')], { prompt_cache_key: name }).name;
    expect(named('key-1')).toBe(named('key-1'));
    expect(named('key-1')).not.toBe(named('key-2'));
    for (const none of ['', null, undefined]) expect(named(none)).toBeUndefined();
    if (conversation === chat) expect(named(7)).toBeUndefined();
  });

  it('has another start with another developer message', () => {
    const turns = [[], ['x'], ['y']].map((texts) => texts.map((text) => said('developer', text)));
    const starts = turns.map((before) => conversation('Be brief.', [...before, user('one')]).start);
    expect(new Set(starts).size).toBe(3);
  });

  it('does not keep a long name in memory', () => {
    const { name, start } = conversation('Be brief.', [user('one')], { prompt_cache_key: 'x'.repeat(1_000_000) });
    expect([name?.length, start.length]).toEqual([43, 43]);
  });
});

it('the digest of a Claude Code conversation has the same start, whatever its billing block contains', () => {
  const start = (version: string) => {
    const header = `x-anthropic-billing-header: cc_version=${version}; cc_entrypoint=cli;`;
    const system = [header, 'Be brief.'].map(textBlock);
    return read(messagesFormat, { system, messages: [user('one')] }).start;
  };
  expect(start('2.1.330.889')).toBe(start('2.1.330.101'));
});
