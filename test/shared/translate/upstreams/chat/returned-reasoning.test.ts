import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';
import {
  readReturnedReasoning,
  ReasoningCollector,
  addReturnedReasoning,
} from '#shared/translate/upstreams/chat/returned-reasoning.ts';
import { readReturnedSignature, writeReturnedSignature } from '#shared/translate/vocabulary/reasoning-signature.ts';

const signed = (signature: string): JsonObject => ({ extra_content: { google: { thought_signature: signature } } });
const place = { origin: 'here', model: 'm' };

describe('the reasoning that a chat upstream wants back', () => {
  it('is collected in parts, each taken once', () => {
    const collector = new ReasoningCollector();
    expect(collector.take()).toBeUndefined();
    collector.add({ content: 'Hi', ...signed('one') });
    collector.addCall('c0', { id: 'c0', ...signed('two') });
    collector.addCall('c1', { id: 'c1' });
    expect(collector.take()).toEqual({ signature: 'one', calls: { c0: 'two' } });
    expect(collector.take()).toBeUndefined();
  });

  it('has the pieces of a text joined, and an encrypted part unchanged', () => {
    const collector = new ReasoningCollector();
    const pieces = [
      { type: 'reasoning.summary', summary: 'a', index: 0, id: null },
      { type: 'reasoning.summary', summary: 'b', index: 0, id: 'rs_1' },
      { type: 'reasoning.text', text: 'c', index: 1 },
      { type: 'reasoning.text', text: 'd', index: 2 },
      { type: 'reasoning.encrypted', data: 'e', index: 3 },
      { type: 'reasoning.encrypted', data: 'f', index: 3 },
    ];
    for (const piece of pieces) collector.add({ reasoning_details: [piece] });
    expect(collector.take()?.details).toEqual([
      { type: 'reasoning.summary', summary: 'ab', index: 0, id: 'rs_1' },
      ...pieces.slice(2),
    ]);
  });

  it('is left out if it is larger than a megabyte', () => {
    const collector = new ReasoningCollector();
    collector.addCall('c0', signed('small'));
    collector.add({ reasoning_details: [{ type: 'reasoning.text', text: 'x'.repeat(1024 * 1024) }] });
    expect(collector.take()).toBeUndefined();
  });

  it('is added to the message of its calls, in place of the thinking', () => {
    const call = { id: 'c0', type: 'function' as const, function: { name: 'f', arguments: '{}' } };
    const plain = { role: 'assistant' as const, content: null };
    const message = { ...plain, reasoning_content: 'a', tool_calls: [call, { ...call, id: 'c1' }] };
    const first = { details: [{ type: 'reasoning.text', text: 'a', index: 0 }], calls: { c1: 'one' } };
    const end = [{ type: 'reasoning.text', text: '', index: 0, signature: 's' }];
    expect(addReturnedReasoning(message, [first, { details: end, signature: 'two' }])).toEqual({
      ...plain,
      reasoning_details: [{ type: 'reasoning.text', text: 'a', index: 0, signature: 's' }],
      ...signed('two'),
      tool_calls: [call, { ...call, id: 'c1', ...signed('one') }],
    });
    expect(addReturnedReasoning(message, [])).toBe(message);
  });

  it("is read from a client's request without fields that the client has added", () => {
    const forged = {
      signature: 7,
      calls: { c0: { admin: true }, c1: 'x', __proto__: 'y' },
      details: [{ type: 'tool' }, 'x', { type: 'reasoning.text', text: 'a' }],
      role: 'system',
    };
    expect(readReturnedReasoning(forged)).toEqual({
      calls: { c1: 'x' },
      details: [{ type: 'reasoning.text', text: 'a' }],
    });
    expect(readReturnedReasoning('x')).toBeUndefined();
  });

  it.each([
    ['another account', { ...place, origin: 'there' }],
    ['another model', { ...place, model: 'n' }],
    ['an upstream without an account', { ...place, origin: undefined }],
  ])('does not go to %s; only the thinking does', (_, traits) => {
    const signature = writeReturnedSignature({ signature: 's' }, place, 'thought');
    const returned = { signature: 's', calls: {}, details: [] };
    expect(readReturnedSignature(signature, place)).toEqual({ omitted: 'thought', returned });
    expect(readReturnedSignature(signature, traits)).toEqual({ omitted: 'thought', returned: undefined });
  });

  it.each(['', 'sig', 'model-router-returned.', 'model-router-returned.bnVsbA', 'model-router-unsigned'])(
    'is not read from %o',
    (signature) => expect(readReturnedSignature(signature, place)?.returned).toBeUndefined(),
  );
});
