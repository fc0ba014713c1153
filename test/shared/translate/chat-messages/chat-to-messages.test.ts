import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '#shared/core/json.ts';
import { parseChatRequest } from '#shared/formats/chat/parse-chat-request.ts';
import { chatToMessages } from '#shared/translate/chat-messages/chat-to-messages.ts';
import type { ModelTraits } from '#shared/translate/translation.ts';
import { errorWith } from '../../../helpers/error-with.ts';
import { said, textBlock } from '../../../helpers/formats/said.ts';

const user = said('user', 'hi');
const tools = [{ type: 'function', function: { name: 'f' } }];

function translate(fields: JsonObject, traits: Partial<ModelTraits> = {}): JsonObject {
  const body = { model: 'm', messages: [user], ...fields };
  return chatToMessages.translateRequest(parseChatRequest(body), { model: 'up', ...traits });
}

function turns(...messages: Json[]): JsonObject {
  const { system, messages: translated } = translate({ messages });
  return { ...(system !== undefined && { system }), messages: translated };
}

function call(id: string, text = '{}'): JsonObject {
  return { id, type: 'function', function: { name: 'f', arguments: text } };
}

describe('a chat request to a messages upstream', () => {
  it('always has an output limit', () => {
    expect(translate({})['max_tokens']).toBe(8192);
    expect(translate({}, { maxOutput: 4096 })['max_tokens']).toBe(4096);
    expect(translate({}, { maxOutput: 64_000 })['max_tokens']).toBe(8192);
    expect(translate({ max_tokens: 5, max_completion_tokens: 6 })['max_tokens']).toBe(6);
  });

  it('has its leading system and developer messages as system prompt, and later ones in place', () => {
    const first = said('system', 'a');
    const second = said('developer', [textBlock('b')]);
    const late = said('system', 'c');
    const system = [textBlock('a'), textBlock('b')];
    expect(turns(first, second, user, late)).toEqual({ system, messages: [user, late] });
    expect(turns(first, user)['system']).toBe('a');
  });

  it("has consecutive results and the user's next message in one turn", () => {
    const calls = { role: 'assistant', content: null, tool_calls: [call('a'), call('b')] };
    const results = ['a', 'b'].map((id) => ({ role: 'tool', tool_call_id: id, content: id }));
    expect(turns(user, calls, ...results, said('user', 'so?'), user)['messages']).toMatchObject([
      user,
      { role: 'assistant' },
      said('user', [{ tool_use_id: 'a' }, { tool_use_id: 'b' }, textBlock('so?')]),
      user,
    ]);
  });

  it('has only valid ids that stay different, and results that match their calls', () => {
    const ids = ['call.1', 'call:1', 'call_1'];
    const [, assistant, results] = turns(
      user,
      { role: 'assistant', tool_calls: ids.map((id) => call(id)) },
      ...ids.map((id) => ({ role: 'tool', tool_call_id: id, content: '' })),
    )['messages'] as { content: { id?: string; tool_use_id?: string }[] }[];
    const used = assistant?.content.map(({ id }) => id) ?? [];
    expect(new Set(used).size).toBe(3);
    for (const id of used) expect(id).toMatch(/^[A-Za-z0-9_-]+$/);
    expect(results?.content.map((block) => block.tool_use_id)).toEqual(used);
  });

  it('has no empty texts, and no empty messages', () => {
    expect(turns(said('system', ''), user, said('assistant', ''), user)).toEqual({ messages: [user, user] });
    const content = [textBlock(''), textBlock('hi')];
    expect(turns(said('user', content))).toEqual({ messages: [user] });
  });

  it('has images as base64 with a known type, and refuses others with their path', () => {
    const image = (url: string) => ({ messages: [said('user', [{ type: 'image_url', image_url: { url } }])] });
    expect(translate(image('data:image/jpg;charset=utf-8;base64,AA=='))['messages']).toMatchObject([
      { content: [{ source: { type: 'base64', media_type: 'image/jpeg', data: 'AA==' } }] },
    ]);
    for (const url of ['data:image/svg+xml;base64,AA', 'file:///etc/passwd', 'data:image/png,AA']) {
      const refused = errorWith('unsupported_parameter', { param: 'messages[0].content[0].image_url.url' });
      expect(() => translate(image(url))).toThrow(refused);
    }
  });

  it('has sampling parameters only without thinking', () => {
    const sampling = { temperature: 1.7, top_p: 0.5, top_k: 4 };
    expect(translate(sampling)).toMatchObject({ temperature: 1, top_p: 0.5, top_k: 4 });
    const disabled = { temperature: 1, thinking: { type: 'disabled' } };
    expect(translate({ ...sampling, reasoning_effort: 'none' })).toMatchObject(disabled);
    const thinking = translate({ ...sampling, reasoning_effort: 'low' });
    for (const field of Object.keys(sampling)) expect(thinking).not.toHaveProperty(field);
  });

  it.each([
    ['minimal', { type: 'adaptive' }, 'low'],
    [0.1, { type: 'adaptive' }, 'low'],
    [0.5, { type: 'adaptive' }, 'medium'],
    [0.99, { type: 'adaptive' }, 'high'],
    [0, { type: 'disabled' }, undefined],
  ])('translates reasoning_effort %s to %j, effort %s', (effort, thinking, translated) => {
    const request = translate({ reasoning_effort: effort });
    expect(request['thinking']).toEqual(thinking);
    expect((request['output_config'] as JsonObject | undefined)?.['effort']).toBe(translated);
  });

  it.each([
    [{ enabled: true }, 'adaptive'],
    [{ enabled: false }, 'disabled'],
    [{ max_tokens: 2000 }, 'enabled', 2000],
    [{ max_tokens: 2000, enabled: true }, 'enabled', 2000],
    [{ max_tokens: 0 }, 'disabled'],
    [{ effort: 'low', max_tokens: 2000 }, 'adaptive'],
  ])('translates reasoning %j to %s thinking', (reasoning, type, budget_tokens?: number) => {
    const thinking = { type, ...(budget_tokens !== undefined && { budget_tokens }) };
    expect(translate({ reasoning })['thinking']).toEqual(thinking);
  });

  it.each([
    ['is at least 1024', { max_tokens: 4000 }, 100, { max: 4000, budget: 1024 }],
    ['stays below the limit', { max_tokens: 4000 }, 9000, { max: 4000, budget: 3999 }],
    ['is added to the usual limit', {}, 9000, { max: 8192 + 9000, budget: 9000 }],
    ["stays below the model's limit", {}, 99_000, { max: 64_000, budget: 63_999 }],
  ])('has a thinking budget that %s', (_, limit, asked, { max, budget }) => {
    const thinking = (budget_tokens: number) => ({ thinking: { type: 'enabled', budget_tokens } });
    for (const fields of [{ reasoning: { max_tokens: asked } }, thinking(asked)]) {
      const request = translate({ ...limit, ...fields }, { maxOutput: 64_000 });
      expect(request).toMatchObject({ max_tokens: max, ...thinking(budget) });
    }
  });

  it('has no thinking if no budget fits in the limit', () => {
    const request = translate({ max_tokens: 1024, reasoning: { max_tokens: 2000 }, temperature: 0.5 });
    expect(request).toMatchObject({ max_tokens: 1024, thinking: { type: 'disabled' }, temperature: 0.5 });
  });

  it('requests thinking in the mode that the model accepts', () => {
    const budget = { reasoning: { max_tokens: 3000 } };
    const byBudget = translate({ reasoning_effort: 'medium' }, { thinkingTypes: ['enabled'] });
    expect(byBudget).toMatchObject({ thinking: { type: 'enabled', budget_tokens: 8192 }, max_tokens: 16_384 });
    expect(byBudget).not.toHaveProperty('output_config');
    const adaptive = { thinking: { type: 'adaptive' }, output_config: { effort: 'medium' } };
    expect(translate(budget, { thinkingTypes: ['adaptive'] })).toMatchObject(adaptive);
    expect(translate(budget, { thinkingTypes: [] })).not.toHaveProperty('thinking');
    expect(translate({ reasoning_effort: 'none' }, { thinkingTypes: [] })['thinking']).toEqual({ type: 'disabled' });
  });

  it('refuses other response formats by name', () => {
    const named = { param: 'response_format.type', message: expect.stringContaining("'regex'") as string };
    expect(() => translate({ response_format: { type: 'regex' } })).toThrow(errorWith('unsupported_parameter', named));
  });

  it('has a refusal that an assistant has given without content', () => {
    const refused = { role: 'assistant', content: null, refusal: 'I cannot.' };
    expect(turns(user, refused, user)['messages']).toEqual([user, said('assistant', 'I cannot.'), user]);
  });

  it('has no thinking if a tool is forced', () => {
    const request = translate({ tools, tool_choice: 'required', reasoning_effort: 'high' });
    expect(request).toMatchObject({ tool_choice: { type: 'any' }, thinking: { type: 'disabled' } });
    expect(request).not.toHaveProperty('output_config');
  });

  it('must call one of the allowed tools, if it must call any', () => {
    const choice = { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [] } };
    expect(translate({ tools, tool_choice: choice })['tool_choice']).toEqual({ type: 'any' });
  });

  it('has no tool choice without tools', () => {
    expect(translate({ tools: [], tool_choice: 'auto', parallel_tool_calls: false })).not.toHaveProperty('tool_choice');
  });
});
