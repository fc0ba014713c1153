import { describe, expect, it } from 'vitest';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { answerFormat, answerSchema, asksAbout, pixelData, user } from '../helpers/clis/open-real-cli.ts';
import { clientTool, openRealCli } from '../helpers/clis/open-real-cli.ts';
import { chatThreeTurns, responsesThreeTurns } from '../helpers/clis/three-turns.ts';
import { useStarted } from '../helpers/use-started.ts';

const schema = {
  type: 'object' as const,
  properties: { n: { type: 'integer' }, city: { type: 'string', description: 'A city' } },
  required: ['city'],
  additionalProperties: false,
};
/** A name that Codex keeps for itself. */
const name = 'mcp__weather__get';
const tools = clientTool(name, schema);
const png = `data:image/png;base64,${pixelData}`;

/** Arguments as the fake upstream writes them. */
const argumentsOf = (n: number): string => `{"n" : ${n},"city" : "city ${n}"}`;

describe('tools of clients on Codex', { tags: ['codex'] }, () => {
  const opened = useStarted(() => openRealCli('codex'), 300_000);

  it('asks a model that must think for its lowest effort, which is remembered', async () => {
    const before = opened.api.calls.length;
    for (const reasoning_effort of ['none', 'none'] as const) {
      const answer = await opened.chat({ messages: [user('Hello. [fake always]')], reasoning_effort }, false);
      expect(answer).toMatchObject({ choices: [{ finish_reason: 'stop' }] });
    }
    const efforts = opened.api.calls.slice(before).map(({ body: { reasoning } }) => {
      return isJsonObject(reasoning) ? reasoning['effort'] : undefined;
    });
    expect(efforts).toEqual(['none', 'low', 'low']);
  });

  it('makes three turns with a chat client, streamed and whole', async () => {
    const asked = 'How is it? [fake calls=2]';
    const turns = await chatThreeTurns(opened, { tools, name, asked, argumentsOf, crossed: true });
    const { ids, usages, bodies, long } = turns;
    const counted = { prompt_tokens: 11, prompt_tokens_details: { cached_tokens: 3 } };
    expect(usages).toMatchObject([{ ...counted, completion_tokens: 7 }, counted]);
    const { description } = tools;
    const offers = { type: 'function', name: expect.any(String), description, parameters: schema, strict: false };
    expect(toolsIn(bodies[0])).toEqual([offers]);
    const offered = toolsIn(bodies[0])[0]?.['name'] ?? null;
    const call = (at: number, n: number) => {
      return { type: 'function_call', call_id: ids[at] ?? '', name: offered, arguments: argumentsOf(n) };
    };
    const result = (at: number, output: string) => ({ type: 'function_call_output', call_id: ids[at] ?? '', output });
    const history = [
      said('developer', 'Be exact.'),
      said('user', asked),
      said('assistant', `You said: ${asked}`),
      call(0, 0),
      call(1, 1),
      result(1, 'rain'),
      result(0, 'hail [fake calls=1]'),
    ];
    expect(inputIn(bodies[1])).toEqual(history);
    expect(inputIn(bodies[2]).slice(0, history.length)).toEqual(history);
    expect(inputIn(bodies[2]).slice(-2)).toEqual([call(2, 0), result(2, long)]);
  });

  it('makes three turns with a Responses client, whole and streamed', async () => {
    const reasoning = { effort: 'low' as const };
    const first = await responsesThreeTurns(opened, { tools, asked: 'How? [fake calls=2 think]', reasoning });
    expect(first.output).toMatchObject([
      { type: 'reasoning' },
      { type: 'message' },
      { type: 'function_call', name, arguments: argumentsOf(0) },
      { type: 'function_call', name, arguments: argumentsOf(1) },
    ]);
    expect(first.usage).toMatchObject({ input_tokens: 11, output_tokens: 6 });
    expect(opened.lastBody()).toMatchObject({ reasoning });
    const [call, result] = ['function_call', 'function_call_output'];
    const types = ['message', 'message', call, call, result, result, 'message', call, result];
    expect(inputIn(opened.lastBody()).map((item) => (item as JsonObject)['type'])).toEqual(types);
  });

  it('offers long and narrow schemas whole, in the description', async () => {
    const property = (at: number) => ({ type: 'integer', description: `The property ${at}`, minimum: at });
    const long = Array.from({ length: 100 }, (_, at) => [`p${at}`, property(at)]);
    const parameters = { type: 'object', properties: Object.fromEntries(long) as object, required: ['p1'] };
    await opened.chat({ messages: [user('Hi')], tools: [{ type: 'function', function: { name: 'f', parameters } }] });
    const [offered] = toolsIn(opened.lastBody());
    expect(offered).toMatchObject({ name: 'f', description: expect.stringContaining(JSON.stringify(parameters)) });
    expect(JSON.stringify(offered?.['parameters'])).toContain('"p99"');
  });

  it('refuses tools that Codex does not take with its own words', async () => {
    const [tool] = tools.chat;
    if (!tool) throw new Error('there is a tool');
    const twice = opened.chat({ messages: [user('Hi')], tools: [tool, tool] });
    await expect(twice).rejects.toMatchObject({ status: 400, param: 'tools', message: expect.stringContaining('dup') });
  });

  it('answers in the schema that the client gives', async () => {
    const answer = await opened.chat({ messages: [user('Hi')], response_format: answerFormat(true) });
    expect(answer.choices[0]?.message.content).toBe('{"said":"yes"}');
    const format = { type: 'json_schema', schema: answerSchema, strict: true };
    expect(opened.lastBody()['text']).toMatchObject({ format });
    const loose = opened.chat({ messages: [user('Hi')], response_format: answerFormat(false) });
    await expect(loose).rejects.toMatchObject({ status: 400, param: 'response_format.json_schema.strict' });
    const object = opened.chat({ messages: [user('Hi')], response_format: { type: 'json_object' } });
    await expect(object).rejects.toMatchObject({ status: 400, param: 'response_format' });
  });

  it('passes on images, and refuses their addresses by name', async () => {
    const answer = await opened.chat({ messages: [asksAbout(png, 'low')] });
    expect(answer.choices[0]?.message.content).toBe('You said: What is it?');
    const content = [{ type: 'input_text' }, { type: 'input_image', image_url: png }];
    expect(inputIn(opened.lastBody()).at(-1)).toMatchObject({ content });
    const remote = opened.chat({ messages: [asksAbout('https://example.com/a.png')] });
    await expect(remote).rejects.toMatchObject({ status: 400, param: 'messages' });
  });
});

/** The input of a request to the upstream, without the ids and marks of Codex. */
function inputIn(body: JsonObject | undefined): Json[] {
  const { input } = body ?? {};
  return (Array.isArray(input) ? input : []).map((item) => {
    const { id: _, internal_chat_message_metadata_passthrough: __, ...rest } = item as JsonObject;
    return rest;
  });
}

function toolsIn(body: JsonObject | undefined): JsonObject[] {
  const given = body?.['tools'];
  const tools = (Array.isArray(given) ? given : []).filter(isJsonObject);
  return tools.filter(({ name }) => name !== 'request_user_input');
}

/** A message in the Responses format, as Codex sends it. */
function said(role: 'developer' | 'user' | 'assistant', text: string): JsonObject {
  const type = role === 'assistant' ? 'output_text' : 'input_text';
  return { type: 'message', role, content: [{ type, text }] };
}
