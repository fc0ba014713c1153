import type OpenAI from 'openai';
import { expect } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';
import { user, type clientTool, type OpenedCli } from './open-real-cli.ts';

/** What three turns came to. */
export interface ThreeTurns {
  /** The ids of their calls: two of the first, one of the second. */
  ids: [string, string, string];
  /** What the client was told of tokens in the first and in the last turn. */
  usages: (OpenAI.CompletionUsage | undefined)[];
  /** What the upstream was sent in each. */
  bodies: [JsonObject, JsonObject, JsonObject];
  /** The last result, which is longer than agents keep those of their own tools. */
  long: string;
}

/** How one agent takes them. */
export interface TurnsOptions {
  tools: ReturnType<typeof clientTool>;
  name: string;
  /** The question, which asks the fake upstream for two calls. */
  asked: string;
  /** Arguments of a call, as the client gets them. */
  argumentsOf: (n: number) => string;
  /** Whether the results come in another order than the calls. */
  crossed: boolean;
}

/** A chat client has three turns, whole and streamed in turn: two calls, one call, an answer. Each is one request to the upstream. */
export async function chatThreeTurns(
  { api, chat, lastBody }: OpenedCli,
  { tools, name, asked, argumentsOf, crossed }: TurnsOptions,
): Promise<ThreeTurns> {
  const before = api.calls.length;
  const bodies: JsonObject[] = [];
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'system', content: 'Be exact.' }, user(asked)];
  const turn = async (streams: boolean): Promise<OpenAI.ChatCompletion> => {
    const answer = await chat({ messages, tools: tools.chat }, streams);
    bodies.push(lastBody());
    const { content = null, tool_calls: calls = [] } = answer.choices[0]?.message ?? {};
    messages.push({ role: 'assistant', content, tool_calls: calls });
    return answer;
  };
  const idsOf = ({ choices }: OpenAI.ChatCompletion) => (choices[0]?.message.tool_calls ?? []).map(({ id }) => id);
  const first = await turn(true);
  const calls = [0, 1].map((n) => ({ function: { name, arguments: argumentsOf(n) } }));
  expect(first.choices[0]).toMatchObject({
    finish_reason: 'tool_calls',
    message: { content: `You said: ${asked}`, tool_calls: calls },
  });
  const [one = '', two = ''] = idsOf(first);
  expect(new Set([one, two, '']).size).toBe(3);
  const [rain, hail] = crossed ? [two, one] : [one, two];
  messages.push({ role: 'tool', tool_call_id: rain, content: 'rain' });
  messages.push({ role: 'tool', tool_call_id: hail, content: 'hail [fake calls=1]' });
  const second = await turn(false);
  expect(second.choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { tool_calls: [{}] } });
  const [three = ''] = idsOf(second);
  const long = 'It is sunny. '.repeat(10_000);
  messages.push({ role: 'tool', tool_call_id: three, content: long });
  const third = await turn(true);
  expect(third.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: `You said: ${long}` } });
  expect(api.calls.length).toBe(before + 3);
  const [asFirst = {}, asSecond = {}, asThird = {}] = bodies;
  return { ids: [one, two, three], usages: [first.usage, third.usage], bodies: [asFirst, asSecond, asThird], long };
}

/** A Responses client has three turns, whole and streamed in turn. What an answer has is what its next request has. @returns the first answer */
export async function responsesThreeTurns(
  { openai, model }: OpenedCli,
  { tools, asked, reasoning }: Pick<TurnsOptions, 'tools' | 'asked'> & { reasoning?: OpenAI.Reasoning },
): Promise<OpenAI.Responses.Response> {
  const input: OpenAI.Responses.ResponseInputItem[] = [user(asked)];
  const turn = async (streams: boolean, output: string): Promise<OpenAI.Responses.Response> => {
    const body = { model, input, tools: tools.responses, store: false, ...(reasoning && { reasoning }) };
    const response = streams
      ? await openai.responses.stream(body).finalResponse()
      : await openai.responses.create(body);
    input.push(...(response.output as OpenAI.Responses.ResponseInputItem[]));
    for (const item of response.output)
      if (item.type === 'function_call') input.push({ type: 'function_call_output', call_id: item.call_id, output });
    return response;
  };
  const first = await turn(false, 'hail [fake calls=1]');
  const second = await turn(true, 'sunny');
  expect(second.output.filter(({ type }) => type === 'function_call')).toHaveLength(1);
  const third = await turn(false, '');
  expect(third.output_text).toBe('You said: sunny');
  return first;
}
