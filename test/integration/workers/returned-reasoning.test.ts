import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';
import { ownSignature } from '#shared/translate/vocabulary/thinking.ts';
import { useScriptedCluster } from '../../helpers/cluster/start-scripted-cluster.ts';
import { startMessagesUpstream } from '../../helpers/upstreams/start-messages-upstream.ts';
import { signingModel, startSigningUpstream, textSignature } from '../../helpers/upstreams/start-signing-upstream.ts';
import type { Signer, SigningUpstream } from '../../helpers/upstreams/start-signing-upstream.ts';
import { useStarted } from '../../helpers/use-started.ts';

const tool = { name: 'look', description: 'Looks', input_schema: { type: 'object' as const } };
const signers: readonly Signer[] = ['gemini', 'openrouter'];

const upstreams = new Map<Signer, SigningUpstream>();

const cluster = useScriptedCluster();
const other = useStarted(() => startMessagesUpstream(['other'], () => [{ type: 'text', text: 'Hi.' }]));
beforeAll(async () => {
  for (const signer of signers) upstreams.set(signer, await startSigningUpstream(signer));
  await Promise.all([
    ...[...upstreams.values()].map(({ url }) =>
      cluster.addCloudWorker({ PROVIDER: 'custom', PROVIDER_URL: url, PROVIDER_KEY: 'one' }),
    ),
    cluster.addCloudWorker({ PROVIDER: 'custom', PROVIDER_FORMAT: 'messages', PROVIDER_URL: other.url }),
  ]);
});
afterAll(async () => {
  for (const upstream of upstreams.values()) await upstream.stop();
});

const clientOf = (): Anthropic =>
  new Anthropic({ baseURL: `${cluster.url}/api/anthropic`, apiKey: cluster.key, maxRetries: 0 });

describe.each(signers)('reasoning that a chat upstream like %s wants back', (signer) => {
  const model = signingModel(signer);
  const bodies = (): JsonObject[] => upstreams.get(signer)?.bodies ?? [];
  const cases = [true, false].flatMap((streamed) => [true, false].map((thinks) => ({ streamed, thinks })));

  it.each(cases)('comes back from a messages client (streamed: $streamed, thinking: $thinks)', async (asked) => {
    const answers = await messagesLoop(model, [{ role: 'user', content: 'Look.' }], asked);
    expect(answers.map(({ content }) => content.filter(({ type }) => type === 'tool_use').length)).toEqual([2, 1, 0]);
    expect(answers.at(-1)?.content.find(({ type }) => type === 'text')).toMatchObject({ text: 'Done.' });
    // Without thinking, the text comes first.
    if (!asked.thinks) expect(answers.at(-1)?.content).toMatchObject([{ type: 'text' }]);
    const shown = answers[0]?.content.filter(({ type }) => type === 'thinking') ?? [];
    expect(shown).toHaveLength(asked.thinks && signer === 'openrouter' ? 1 : 0);
  });

  it.each([true, false])('comes back from a Responses client (streamed: %s)', async (streamed) => {
    const openai = new OpenAI({ baseURL: `${cluster.url}/api/openai/v1`, apiKey: cluster.key, maxRetries: 0 });
    const input: OpenAI.Responses.ResponseInputItem[] = [{ role: 'user', content: 'Look.' }];
    for (const calls of [2, 1, 0]) {
      const request: OpenAI.Responses.ResponseCreateParamsNonStreaming = {
        model,
        input,
        store: false,
        include: ['reasoning.encrypted_content'],
        tools: [{ type: 'function', name: 'look', parameters: { type: 'object' }, strict: false }],
      };
      const { output, output_text: text } = streamed
        ? await openai.responses.stream({ ...request, stream: true }).finalResponse()
        : await openai.responses.create(request);
      const ids = output.flatMap((item) => (item.type === 'function_call' ? [item.call_id] : []));
      expect(ids).toHaveLength(calls);
      if (calls === 0) expect(text).toBe('Done.');
      const results = ids.map((id) => ({ type: 'function_call_output' as const, call_id: id, output: 'Seen.' }));
      input.push(...(output as OpenAI.Responses.ResponseInputItem[]), ...results);
    }
    expect(JSON.stringify(bodies().at(-1))).not.toContain('encrypted_content');
  });

  it('goes to no other upstream', async () => {
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Look.' }];
    await messagesLoop(model, messages, { streamed: true, thinks: true });
    messages.push({ role: 'user', content: 'More?' });
    const request = { max_tokens: 99, tools: [tool], messages };
    const another = signer === 'gemini' ? 'openrouter' : 'gemini';
    await clientOf().messages.create({ ...request, model: signingModel(another) });
    await clientOf().messages.create({ ...request, model: 'other' });
    const sent = JSON.stringify(upstreams.get(another)?.bodies.at(-1));
    expect(sent).not.toMatch(new RegExp(`thought_signature|reasoning_details|${ownSignature}`));
    expect(other.calls.at(-1)?.raw).toContain('tool_use');
    expect(other.calls.at(-1)?.raw).not.toContain(ownSignature);
  });

  it('comes with the next question, too', async () => {
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Look.' }];
    await messagesLoop(model, messages, { streamed: true, thinks: true });
    messages.push({ role: 'user', content: 'Again.' });
    await messagesLoop(model, messages, { streamed: true, thinks: true });
    const sent = JSON.stringify(bodies().at(-3));
    expect(sent).toContain(signer === 'gemini' ? textSignature : '"signature":"sig2"');
  });
});

/** Lets the model call tools until it answers; adds its turns and the results to the messages. */
async function messagesLoop(
  model: string,
  messages: Anthropic.MessageParam[],
  { streamed, thinks }: { streamed: boolean; thinks: boolean },
): Promise<Anthropic.Message[]> {
  const answers: Anthropic.Message[] = [];
  for (;;) {
    const request: Anthropic.MessageCreateParamsNonStreaming = {
      model,
      max_tokens: 4000,
      tools: [tool],
      messages,
      ...(thinks && { thinking: { type: 'enabled', budget_tokens: 1024 } }),
    };
    const api = clientOf().messages;
    const answer = await (streamed ? api.stream(request).finalMessage() : api.create(request));
    answers.push(answer);
    messages.push({ role: 'assistant', content: answer.content as Anthropic.ContentBlockParam[] });
    const calls = answer.content.filter((block) => block.type === 'tool_use');
    if (calls.length === 0) return answers;
    const content = calls.map(({ id }) => ({ type: 'tool_result' as const, tool_use_id: id, content: 'Seen.' }));
    messages.push({ role: 'user', content });
  }
}
