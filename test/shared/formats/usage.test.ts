import { describe, expect, it } from 'vitest';
import { readChatUsage } from '#shared/formats/chat/usage.ts';
import { readMessagesUsage } from '#shared/formats/messages/usage.ts';
import { readResponsesUsage } from '#shared/formats/responses/usage.ts';

describe('the usage of a chat or Responses upstream', () => {
  it.each([
    // Gemini's and xAI's APIs count reasoning in the total alone.
    ['reasoning that is in the total alone', { completion_tokens: 1_499, total_tokens: 14_428 }, 4_308],
    ['no total', { completion_tokens: 12 }, 12],
    ['a total that is too small', { completion_tokens: 12, total_tokens: 9 }, 12],
  ])('has the output of an answer with %s', (_, counts, completionTokens) => {
    const usage = readChatUsage({ prompt_tokens: 10_120, ...counts });
    const { completion_tokens: output_tokens, ...total } = counts;
    const ofResponse = readResponsesUsage({ usage: { input_tokens: 10_120, output_tokens, ...total } });
    for (const read of [usage, ofResponse]) expect(read).toMatchObject({ promptTokens: 10_120, completionTokens });
  });

  it('has no output from a total without a prompt', () => {
    expect(readChatUsage({ total_tokens: 7 })).toMatchObject({ promptTokens: 0, completionTokens: 0 });
  });
});

describe('the usage of a messages upstream', () => {
  // The fields of the API reference, "Create a Message".
  const usage = {
    input_tokens: 20,
    cache_read_input_tokens: 1_000,
    cache_creation_input_tokens: 556,
    cache_creation: { ephemeral_5m_input_tokens: 456, ephemeral_1h_input_tokens: 100 },
    output_tokens: 503,
    server_tool_use: { web_search_requests: 3, web_fetch_requests: 1 },
    service_tier: 'standard',
  };

  it('has the tokens cached for an hour, and the web searches', () => {
    const prompt = { promptTokens: 1_576, cachedTokens: 1_000, cacheWriteTokens: 556, hourCacheWriteTokens: 100 };
    const output = { completionTokens: 503, reasoningTokens: 0, units: { searches: 3 } };
    expect(readMessagesUsage(usage)).toEqual({ ...prompt, ...output });
  });

  it('has neither hour cache tokens nor searches if the upstream reports none', () => {
    const { cache_creation: _, server_tool_use: __, ...others } = usage;
    const plain = readMessagesUsage({ ...others, cache_creation: null, server_tool_use: null });
    expect(plain).not.toHaveProperty('hourCacheWriteTokens');
    expect(plain).not.toHaveProperty('units');
  });
});

it('the usage of a response counts the completed searches in its output, not opened pages or failed searches', () => {
  const call = (type: string, status = 'completed'): object => ({ type: 'web_search_call', status, action: { type } });
  const output = [call('search'), call('open_page'), call('search'), call('search', 'failed'), { type: 'message' }];
  const response = { usage: { input_tokens: 5, output_tokens: 6 }, output: JSON.parse(JSON.stringify(output)) };
  expect(readResponsesUsage(response)).toMatchObject({ promptTokens: 5, units: { searches: 2 } });
  expect(readResponsesUsage({ ...response, output: [] })).not.toHaveProperty('units');
  expect(readResponsesUsage({ output: [] })).toBeUndefined();
});
