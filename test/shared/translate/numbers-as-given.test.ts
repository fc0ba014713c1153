import { describe, expect, it } from 'vitest';
import { writeExact } from '#shared/core/exact-numbers.ts';
import { isJsonObject } from '#shared/core/json.ts';
import { readRequest } from '#shared/upstream/read-request.ts';
import { parseUpstreamJson } from '#shared/translate/upstreams/parse-upstream-json.ts';
import { parseExact } from '#shared/core/exact-numbers.ts';
import { translations } from '#shared/translate/translations.ts';
import { translationBetween } from './translation-between.ts';

/** Numbers that a parser changes. */
const numbers = '{"n":12345678901234567890,"f":1.0,"huge":1e400,"deep":[{"zero":-0.0}]}';
const inString = JSON.stringify(numbers).slice(1, -1);
const answerContext = { id: 'own', model: 'served', created: 7 };

const requests: Record<string, string> = {
  chat: `{"model":"m","seed":12345678901234567890,"max_tokens":100,"further":${numbers},"messages":[
    {"role":"user","content":"Hi"},
    {"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"${inString}"}}]},
    {"role":"tool","tool_call_id":"c","content":"1.0"}],
    "tools":[{"type":"function","function":{"name":"f","parameters":${numbers}}}]}`,
  messages: `{"model":"m","max_tokens":100,"further":${numbers},"messages":[
    {"role":"user","content":"Hi"},
    {"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":${numbers}}]},
    {"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"1.0"}]}],
    "tools":[{"name":"f","input_schema":${numbers}}]}`,
  responses: `{"model":"m","store":false,"further":${numbers},"input":[
    {"type":"message","role":"user","content":"Hi"},
    {"type":"function_call","call_id":"c","name":"f","arguments":"${inString}"},
    {"type":"function_call_output","call_id":"c","output":"1.0"}],
    "tools":[{"type":"function","name":"f","strict":false,"parameters":${numbers}}]}`,
};

const answers: Record<string, string> = {
  chat: `{"id":"x","choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":null,
    "tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"${inString}"}}],"further":${numbers}}}],
    "usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2,"further":${numbers}},"timings":${numbers}}`,
  messages: `{"id":"x","type":"message","role":"assistant","model":"m","stop_reason":"tool_use","stop_sequence":null,
    "content":[{"type":"tool_use","id":"c","name":"f","input":${numbers}}],
    "usage":{"input_tokens":1,"output_tokens":1,"further":${numbers}},"timings":${numbers}}`,
  responses: `{"id":"resp_x","object":"response","created_at":1,"status":"completed","model":"m","output":[
    {"id":"fc_1","type":"function_call","call_id":"c","name":"f","arguments":"${inString}"}],
    "usage":{"input_tokens":1,"output_tokens":1,"total_tokens":2},"timings":${numbers}}`,
};

const count = (text: string): number => text.split(numbers).length + text.split(inString).length - 2;
const pairs = translations
  .map(({ client, upstream }) => [client.name, upstream.name] as const)
  .filter(([client, upstream]) => client in requests && upstream in requests);

describe.each(pairs)('numbers that a parser changes, of a %s client to a %s upstream', (client, upstream) => {
  const translation = translationBetween(client, upstream);

  it('pass unchanged in the request', () => {
    const body = requests[client] ?? '';
    const { request: given, write } = readRequest({ body: Buffer.from(body) });
    const sent = Buffer.concat(write(translation.translateRequest(given, { model: 'up' }))).toString();
    expect(count(sent)).toBe(3);
    if (client === upstream) expect(sent.includes('"seed":12345678901234567890')).toBe(client === 'chat');
  });

  it('pass unchanged in the answer', () => {
    const answer = parseUpstreamJson(answers[upstream] ?? '', parseExact);
    const { body } = translation.translateReply(isJsonObject(answer) ? answer : {}, answerContext);
    expect(count(writeExact(body))).toBe(client === upstream ? count(answers[upstream] ?? '') : 1);
  });
});
