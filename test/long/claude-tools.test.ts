import type Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { clientTool, openRealCli, pixelData, user } from '../helpers/clis/open-real-cli.ts';
import { chatThreeTurns } from '../helpers/clis/three-turns.ts';
import { useStarted } from '../helpers/use-started.ts';

const schema = {
  type: 'object' as const,
  properties: { n: { type: 'integer' }, city: { type: 'string', description: 'A city' } },
  required: ['city'],
  additionalProperties: false,
};
/** The name of a tool of its own. */
const name = 'Bash';
const tools = clientTool(name, schema);
const { description } = tools;

const usage = { input_tokens: 11, cache_creation_input_tokens: 2, cache_read_input_tokens: 3 };

describe('tools of clients on Claude Code', { tags: ['claude'] }, () => {
  const opened = useStarted(() => openRealCli('claude'), 300_000);

  /** The body of the last request to the upstream, without the cache hints that Claude Code sets. */
  const lastBody = (): JsonObject => withoutHints(opened.lastBody()) as JsonObject;

  async function ask(
    params: Omit<Anthropic.MessageCreateParamsNonStreaming, 'model' | 'max_tokens'> & { max_tokens?: number },
    streams: boolean,
  ): Promise<Anthropic.Message> {
    const { anthropic, model } = opened;
    const body = { model, max_tokens: 500, ...params };
    return streams ? anthropic.messages.stream(body).finalMessage() : anthropic.messages.create(body);
  }

  it('makes three turns with a messages client, streamed and whole', async () => {
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'How is it? [fake calls=2]' }];
    const first = await ask({ system: 'Be exact.', messages, tools: tools.messages }, true);
    expect(first).toMatchObject({ stop_reason: 'tool_use', usage: { ...usage, output_tokens: 7 } });
    expect(first.content).toMatchObject([
      { type: 'text', text: 'You said: How is it? [fake calls=2]' },
      { type: 'tool_use', name, input: { n: 0, city: 'city 0' } },
      { type: 'tool_use', name, input: { n: 1, city: 'city 1' } },
    ]);
    expect(lastBody()).toMatchObject({
      tools: [{ name, description, input_schema: schema }],
      thinking: { type: 'disabled' },
      max_tokens: 500,
    });

    const [one, two] = first.content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
    const source = { type: 'base64' as const, media_type: 'image/png' as const, data: pixelData };
    const results: Anthropic.ToolResultBlockParam[] = [
      { type: 'tool_result', tool_use_id: one ?? '', content: [{ type: 'image', source }], is_error: false },
      { type: 'tool_result', tool_use_id: two ?? '', content: 'hail [fake calls=1]', is_error: true },
    ];
    messages.push({ role: 'assistant', content: first.content }, { role: 'user', content: results });
    const second = await ask({ system: 'Be exact.', messages, tools: tools.messages }, false);
    expect(second).toMatchObject({ stop_reason: 'tool_use', content: [{ type: 'text' }, { type: 'tool_use' }] });
    expect(lastBody()['messages']).toEqual(asBlocks(messages));

    const [three] = second.content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
    const last: Anthropic.ContentBlockParam[] = [
      { type: 'tool_result', tool_use_id: three ?? '', content: [{ type: 'text', text: 'sunny' }] },
      { type: 'text', text: 'So?' },
    ];
    messages.push({ role: 'assistant', content: second.content }, { role: 'user', content: last });
    const third = await ask({ system: 'Be exact.', messages, tools: tools.messages }, true);
    expect(third).toMatchObject({ stop_reason: 'end_turn', content: [{ text: 'You said: So?' }] });
    expect(third.usage).toMatchObject({ ...usage, output_tokens: 3 });
    expect(lastBody()['messages']).toEqual(asBlocks(messages));
    expect(JSON.stringify(lastBody()['system'])).toContain('Be exact.');
  });

  it('makes three turns with a chat client, streamed and whole', async () => {
    const asked = 'How is it? [fake calls=2]';
    const argumentsOf = (n: number): string => `{"n":${n},"city":"city ${n}"}`;
    const turns = await chatThreeTurns(opened, { tools, name, asked, argumentsOf, crossed: false });
    const [one, two] = turns.ids;
    expect(turns.usages[0]).toMatchObject({ prompt_tokens: 16, completion_tokens: 7 });
    const use = (id: string, at: number) => ({ type: 'tool_use', id, name, input: { n: at, city: `city ${at}` } });
    const results = [
      { type: 'tool_result', tool_use_id: one, content: 'rain' },
      { type: 'tool_result', tool_use_id: two, content: 'hail [fake calls=1]' },
    ];
    expect((withoutHints(turns.bodies[1]) as JsonObject)['messages']).toEqual([
      { role: 'user', content: [{ type: 'text', text: asked }] },
      { role: 'assistant', content: [{ type: 'text', text: `You said: ${asked}` }, use(one, 0), use(two, 1)] },
      { role: 'user', content: results },
    ]);
  });

  it('calls tools of a Responses client, and goes on with thinking, streamed and whole', async () => {
    const input: OpenAI.Responses.ResponseInputItem[] = [{ role: 'user', content: 'How? [fake calls=1 think]' }];
    const create = async (streams: boolean): Promise<OpenAI.Responses.Response> => {
      const { openai, model } = opened;
      const thinks = { reasoning: { effort: 'low' as const }, include: ['reasoning.encrypted_content' as const] };
      const body = { model, input, tools: tools.responses, store: false, ...thinks };
      return streams ? openai.responses.stream(body).finalResponse() : openai.responses.create(body);
    };
    const first = await create(true);
    expect(first.output).toMatchObject([
      { type: 'reasoning' },
      { type: 'message' },
      { type: 'function_call', name, arguments: '{"n":0,"city":"city 0"}' },
    ]);
    expect(lastBody()).toMatchObject({ thinking: { type: 'adaptive' }, output_config: { effort: 'low' } });
    const call = first.output.find((item) => item.type === 'function_call');
    // What an answer has is what the next request may have.
    input.push(...(first.output as OpenAI.Responses.ResponseInputItem[]));
    input.push({ type: 'function_call_output', call_id: call?.call_id ?? '', output: 'sunny' });
    const second = await create(false);
    expect(second.output_text).toBe('You said: sunny');
    expect(second.usage).toMatchObject({ input_tokens: 16, output_tokens: 3 });
    expect(lastBody()['messages']).toMatchObject([
      { role: 'user' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm, let me think.', signature: 'c2ln' },
          { type: 'text', text: 'You said: How? [fake calls=1 think]' },
          { type: 'tool_use', input: { n: 0, city: 'city 0' } },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', content: 'sunny' }] },
    ]);
  });

  it('shows the input of a call as it comes', async () => {
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: '[fake calls=1 delay=2000]' }];
    const pieces: { at: number; json: string }[] = [];
    const { anthropic, model } = opened;
    const stream = anthropic.messages.stream({ model, max_tokens: 500, messages, tools: tools.messages });
    for await (const event of stream) {
      if (event.type !== 'content_block_delta' || event.delta.type !== 'input_json_delta') continue;
      pieces.push({ at: performance.now(), json: event.delta.partial_json });
    }
    expect(pieces.map(({ json }) => json).join('')).toBe('{"n":0,"city":"city 0"}');
    expect(pieces.length).toBeGreaterThanOrEqual(3);
    expect((pieces.at(-1)?.at ?? 0) - (pieces[0]?.at ?? 0)).toBeGreaterThan(50);
  });

  it('passes on a forced choice of tools, no parallel calls, and the choice of none', async () => {
    await opened.chat({ messages: [user('Hi')], tools: tools.chat, tool_choice: 'required' }, false);
    expect(lastBody()['tool_choice']).toEqual({ type: 'any' });
    await opened.chat({ messages: [user('Hi')], tools: tools.chat, parallel_tool_calls: false }, false);
    expect(lastBody()['tool_choice']).toEqual({ type: 'auto', disable_parallel_tool_use: true });
    const choice = { type: 'tool' as const, name };
    await ask({ messages: [user('Hi')], tools: tools.messages, tool_choice: choice }, true);
    expect(lastBody()['tool_choice']).toEqual(choice);
    await ask({ messages: [user('Hi')], tools: tools.messages, tool_choice: { type: 'none' } }, true);
    expect(lastBody()['tool_choice']).toEqual({ type: 'none' });
  });

  it('answers in the format that the client gives', async () => {
    const answerSchema = { type: 'object', properties: { said: { type: 'string' } }, required: ['said'] };
    const format = { type: 'json_schema' as const, json_schema: { name: 'answer', schema: answerSchema } };
    const answer = await opened.chat({ messages: [user('Hi')], response_format: format }, true);
    expect(answer.choices[0]?.message.content).toBe('{"said":"yes"}');
    expect(lastBody()['output_config']).toMatchObject({ format: { type: 'json_schema', schema: answerSchema } });
    const text = { format: { type: 'json_schema' as const, name: 'answer', schema: answerSchema } };
    const asked = { model: opened.model, input: 'Hi', store: false, text };
    const response = await opened.openai.responses.create(asked);
    expect(response.output_text).toBe('{"said":"yes"}');
  });

  it("keeps the client's limits, and asks the upstream once", async () => {
    const before = opened.api.calls.length;
    const cut = await ask({ messages: [user('one [fake delay=400]')], max_tokens: 3 }, true);
    expect(cut).toMatchObject({ stop_reason: 'max_tokens', usage: { ...usage, output_tokens: 3 } });
    const stopped = await ask({ messages: [user('one STOP two [fake delay=400]')], stop_sequences: ['STOP'] }, false);
    expect(stopped).toMatchObject({ stop_reason: 'stop_sequence', stop_sequence: 'STOP', usage });
    expect(stopped.content).toMatchObject([{ text: 'You said: one ' }]);
    expect(opened.api.calls.length).toBe(before + 2);
  });

  it('thinks only when it is asked to', async () => {
    await opened.chat({ messages: [user('Hi')] }, false);
    expect(lastBody()['thinking']).toEqual({ type: 'disabled' });
    const thinking = { type: 'enabled' as const, budget_tokens: 1024 };
    await ask({ messages: [user('Hi')], max_tokens: 2000, thinking }, false);
    expect(lastBody()['thinking']).toEqual(thinking);
  });

  it('offers many tools at once as the client describes them', async () => {
    const many: Anthropic.ToolUnion[] = Array.from({ length: 60 }, (_, at) => {
      const name = `tool_${60 - at}`;
      return { name, description, input_schema: { ...schema, anyOf: [{ required: ['n'] }] }, strict: at % 2 === 0 };
    });
    many.push({ type: 'bash_20250124', name: 'bash' });
    await ask({ messages: [user('Hi')], tools: many }, true);
    expect(lastBody()['tools']).toEqual(many);
  });

  it('takes tools with names that Claude Code has for its own, and keeps them in the history', async () => {
    const names = ['Agent', 'Task', 'Bash', 'ToolSearch', 'mcp__github__search', 'n'.repeat(128)];
    const named = names.map((each) => ({ name: each, description, input_schema: schema }));
    const calls = names.map((each) => ({ type: 'tool_use' as const, id: `call_${each}`, name: each, input: { n: 1 } }));
    const results = calls.map(({ id }) => ({ type: 'tool_result' as const, tool_use_id: id, content: 'rain' }));
    const messages: Anthropic.MessageParam[] = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: calls },
      { role: 'user', content: [...results, { type: 'text', text: 'And now? [fake calls=1]' }] },
    ];
    const before = opened.api.calls.length;
    const answer = await ask({ messages, tools: named }, true);
    expect(answer.content).toMatchObject([{}, { type: 'tool_use', name: 'Agent', input: { n: 0 } }]);
    expect(opened.api.calls.length).toBe(before + 1);
    expect(lastBody()).toMatchObject({ tools: named, messages: asBlocks(messages) });
  });

  it('passes on documents, also beside results of tools', async () => {
    const pdf = Buffer.from('%PDF-1.4\n%%EOF').toString('base64');
    const content: Anthropic.ContentBlockParam[] = [
      { type: 'document', title: 'Notes', source: { type: 'text', media_type: 'text/plain', data: 'one two' } },
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: pdf } },
      { type: 'search_result', source: 's', title: 't', content: [{ type: 'text', text: 'found' }] },
      { type: 'text', text: 'Read.' },
    ];
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content }];
    await ask({ messages }, false);
    expect(lastBody()['messages']).toEqual(asBlocks(messages));
  });

  it('refuses what Claude Code cannot pass on, by name', async () => {
    const tool = { type: 'code_execution_20250825', name: 'code_execution' };
    await expect(ask({ messages: [user('Hi')], tools: [tool as never] }, false)).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('tools.0.type'),
    });
  });
});

describe('tools of clients on Claude Code with a login', { tags: ['claude'] }, () => {
  it('are called, and the model is told nothing about commits', async () => {
    const opened = await openRealCli('claude', { ANTHROPIC_API_KEY: undefined, CLAUDE_CODE_OAUTH_TOKEN: 'token' });
    onTestFinished(() => opened.stop());
    const { anthropic, model } = opened;
    const messages = [user('[fake calls=2]')];
    const answer = await anthropic.messages.create({ model, max_tokens: 300, messages, tools: tools.messages });
    expect(answer).toMatchObject({ stop_reason: 'tool_use', content: [{}, { name }, { name }], usage });
    expect(opened.lastBody()).toMatchObject({ max_tokens: 300, tools: [{ name }] });
    expect(JSON.stringify(opened.lastBody()['messages'])).not.toContain('Co-Authored-By');
  });
});

/** Turns whose contents are blocks. */
function asBlocks(messages: readonly Anthropic.MessageParam[]): Json {
  const blocks = messages.map(({ role, content }) => ({
    role,
    content: typeof content === 'string' ? [{ type: 'text', text: content }] : content,
  }));
  return JSON.parse(JSON.stringify(blocks)) as Json;
}

function withoutHints(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutHints);
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([field]) => field !== 'cache_control');
  return Object.fromEntries(kept.map(([field, inner]) => [field, withoutHints(inner ?? null)]));
}
