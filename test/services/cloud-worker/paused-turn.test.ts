import { describe, expect, it } from 'vitest';
import { formatHostedCapability } from '#shared/broker/contract/announcement.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { presets } from '#services/cloud-worker/providers/presets.ts';
import { stopAfterTest } from '../../helpers/stop-after-test.ts';
import { openCloudWorker } from '../../helpers/upstreams/open-cloud-worker.ts';
import { startMessagesUpstream, type MessagesAnswer } from '../../helpers/upstreams/start-messages-upstream.ts';

const search = (id: string): JsonObject[] => [
  { type: 'server_tool_use', id, name: 'web_search', input: { query: id } },
  { type: 'web_search_tool_result', tool_use_id: id, content: [] },
];
const usage = (input: number, output: number, searches: number): JsonObject => ({
  input_tokens: input,
  output_tokens: output,
  cache_read_input_tokens: 3,
  server_tool_use: { web_search_requests: searches },
});
const thought = { type: 'thinking', thinking: 'Hm.', signature: 's1' };

const answers: MessagesAnswer[] = [
  { content: [thought, ...search('a')], usage: usage(10, 5, 1), stopReason: 'pause_turn' },
  { content: [...search('b'), ...search('c')], usage: usage(20, 6, 2), stopReason: 'pause_turn' },
  { content: [{ type: 'text', text: 'Found.' }], usage: usage(30, 7, 0) },
];

const bodies: Record<string, JsonObject> = {
  responses: { input: 'Search.', tools: [{ type: 'web_search' }], store: false },
  messages: {
    messages: [{ role: 'user', content: 'Search.' }],
    max_tokens: 9,
    tools: [{ type: 'web_search_20250305', name: 'web_search' }],
  },
};

async function ask(answer: (at: number) => MessagesAnswer, stream: boolean, client = 'responses') {
  const upstream = stopAfterTest(await startMessagesUpstream(['claude'], (_, at) => answer(at)));
  const { run } = openCloudWorker(presets.anthropic, upstream.url, {
    models: () => [{ id: 'claude', capabilities: ['stream', 'tools', formatHostedCapability('web_search', client)] }],
  });
  return { ...(await run(client, 'claude', { ...bodies[client], stream })), upstream };
}

/** Returns the response object of an answer, streamed or whole. */
function responseIn(text: string, stream: boolean): JsonObject {
  if (!stream) return JSON.parse(text) as JsonObject;
  const data = text
    .trim()
    .split('\n\n')
    .map((event) => JSON.parse(/^data: (.*)$/m.exec(event)?.[1] ?? '') as JsonObject);
  expect(data.filter(({ type }) => type === 'response.created')).toHaveLength(1);
  expect(data.map(({ sequence_number: at }) => at)).toEqual(data.map((_, at) => at));
  return data.at(-1)?.['response'] as JsonObject;
}

describe('a turn that a messages upstream pauses', () => {
  it.each([true, false])('is one answer, with the usage of all its messages (streamed: %s)', async (stream) => {
    const { text, end, upstream } = await ask((at) => answers[at] ?? [], stream);
    const { output, status, usage: counted } = responseIn(text, stream);
    expect(status).toBe('completed');
    const searched = Array(3).fill('web_search_call');
    const types = (output as JsonObject[]).map(({ type }) => type);
    expect(types).toEqual(['reasoning', ...searched, 'message']);
    expect((output as JsonObject[]).at(-1)).toMatchObject({ content: [{ text: 'Found.' }] });
    expect(counted).toMatchObject({ input_tokens: 69, output_tokens: 18, input_tokens_details: { cached_tokens: 9 } });
    expect(end).toMatchObject({ finishReason: 'stop', usage: { promptTokens: 69, units: { searches: 3 } } });
    expect(upstream.calls.map(({ body }) => body.messages.length)).toEqual([1, 2, 2]);
    const [first, second, third] = upstream.calls;
    const begun = [thought, ...search('a')];
    const messages = [...(first?.body.messages ?? []), { role: 'assistant', content: begun }];
    expect(second?.body).toEqual({ ...first?.body, messages });
    expect(third?.body.messages[1]?.content).toEqual([...begun, ...search('b'), ...search('c')]);
  });

  it.each([true, false])('ends after eight continuations (streamed: %s)', async (stream) => {
    const paused: MessagesAnswer = { content: search('a'), stopReason: 'pause_turn' };
    const { text, upstream } = await ask(() => paused, stream);
    expect(upstream.calls).toHaveLength(9);
    expect(responseIn(text, stream)).toMatchObject({ status: 'completed' });
  });

  it('fails with the error of the upstream when it is continued', async () => {
    const refused: MessagesAnswer = { status: 529, error: { type: 'overloaded_error', message: 'Overloaded' } };
    const failed = ask((at) => (at === 0 ? (answers[0] ?? []) : refused), true);
    await expect(failed).rejects.toMatchObject({ code: 'overloaded' });
  });

  it('is continued by clients of the same format themselves', async () => {
    const { text, upstream } = await ask((at) => answers[at] ?? [], false, 'messages');
    expect(upstream.calls).toHaveLength(1);
    expect(JSON.parse(text)).toMatchObject({ stop_reason: 'pause_turn' });
  });
});
