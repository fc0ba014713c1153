import { expect, it } from 'vitest';
import { createAnswerValidator } from '#services/cli-worker/clis/opencode/answer-validator.ts';
import { OpencodeAnswer } from '#services/cli-worker/clis/opencode/opencode-answer.ts';
import type { AnswerPart } from '#services/cli-worker/clis/cli.ts';
import type { Json, JsonObject } from '#shared/core/json.ts';

/** Reads a structured answer of opencode for a client with this schema. */
async function read(schema: JsonObject, structured: Json) {
  const parts: AnswerPart[] = [];
  const tools = { names: new Map<string, string>(), parallel: true };
  const answer = new OpencodeAnswer('s', (part) => void parts.push(part), tools, await createAnswerValidator(schema));
  const info: JsonObject = { id: 'm', role: 'assistant', finish: 'tool-calls', structured };
  answer.push('message.updated', { sessionID: 's', info });
  answer.push('session.idle', { sessionID: 's' });
  return { outcome: await answer.finalOutcome, parts };
}

const code = { type: 'object', properties: { code: { type: 'string', pattern: '^[a-z]+$' } } };

it('a structured answer is passed on if it matches the schema, and fails if it does not, with patterns and without', async () => {
  for (const schema of [code, { type: 'object', required: ['code'] }]) {
    const { outcome, parts } = await read(schema, { code: 'abc' });
    expect(outcome).toMatchObject({ finishReason: 'stop' });
    expect(parts).toEqual([{ kind: 'text', text: '{"code":"abc"}' }]);
  }
  await expect(read(code, { code: 'A' })).rejects.toMatchObject({ code: 'upstream_failed' });
});

it('an invalid schema is refused before opencode gets the request', async () => {
  for (const schema of [{ type: 'any' }, { $ref: '#/nowhere' }])
    await expect(createAnswerValidator(schema as JsonObject)).rejects.toMatchObject({ code: 'invalid_request' });
});

it('a pattern that takes exponential time ends with an error for the client, and blocks nothing else', async () => {
  const schema = { type: 'object', properties: { code: { type: 'string', pattern: '^(x+)+$' } } };
  let ticks = 0;
  const timer = setInterval(() => (ticks += 1), 10);
  await expect(read(schema, { code: `${'x'.repeat(40)}!` })).rejects.toMatchObject({ code: 'invalid_request' });
  clearInterval(timer);
  expect(ticks).toBeGreaterThan(3);
});
