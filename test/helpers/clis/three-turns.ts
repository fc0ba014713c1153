import type OpenAI from 'openai';
import { expect } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';
import { user, type clientTool, type OpenedCli } from './open-real-cli.ts';

export interface ThreeTurns {
  /** The ids of their calls: two of the first, one of the second. */
  ids: [string, string, string];
  /** Token counts that the client got in the first and in the last turn. */
  usages: (OpenAI.CompletionUsage | undefined)[];
  /** Bodies that the upstream got in each turn. */
  bodies: [JsonObject, JsonObject, JsonObject];
  /** The last result, which is longer than agents keep results of their own tools. */
  long: string;
}

/** Differences between agents in these turns. */
export interface TurnsOptions {
  tools: ReturnType<typeof clientTool>;
  name: string;
  /** The question, which makes the fake upstream answer with two calls. */
  asked: string;
  /** Returns the arguments of a call, as the client gets them. */
  argumentsOf: (n: number) => string;
  /** Whether the results come in another order than the calls. */
  crossed: boolean;
}

/** Runs three turns of a chat client, whole and streamed in turn: two calls, one call, an answer. Each is one request to the upstream. */
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

/**
 * Runs three turns of a Responses client, whole and streamed in turn. Each request repeats the items of the answers before.
 * @returns the first answer
 */
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
