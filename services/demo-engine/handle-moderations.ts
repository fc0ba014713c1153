import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { RouterError } from '#shared/core/errors.ts';
import { answerWithSlot } from './answer-with-slot.ts';
import { requireModel, type Engine } from './engine.ts';
import { sendComputed } from './reply/send-computed.ts';
import { resolveDemoOptions, findDemoWords } from './request/demo-options.ts';
import { parseBody, readJsonBody } from './request/read-body.ts';
import { moderationsRequestSchema } from './request/vector-requests.ts';
import { judgeText } from './vectors/judge-text.ts';

/**
 * Handles `POST /v1/moderations`. Judges the parts of one input together, as OpenAI does.
 * @throws RouterError when the request is refused; the signal's reason when the client disconnects
 */
export async function handleModerations(
  engine: Engine,
  http: IncomingMessage,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const body = await readJsonBody(http);
  const { model, input, demo: options } = parseBody(moderationsRequestSchema, body);
  requireModel(engine, model, 'moderate');
  const texts = toTexts(input);
  const [first] = texts;
  if (first === undefined) throw new RouterError('invalid_request', 'The input is empty.', { param: 'input' });
  const demo = resolveDemoOptions(engine.defaults, options, findDemoWords(first));
  const facts = {
    id: `modr-${randomUUID()}`,
    model,
    stream: false,
    messages: texts.length,
    tools: 0,
    fields: Object.keys(body),
    request_id: http.headers['x-request-id']?.toString() ?? null,
    prompt_tokens: 0,
  };
  await answerWithSlot(engine, { facts, demo, response, signal }, ({ id }) =>
    sendComputed({ id, model, results: texts.map(judgeText), usage: {} }, demo, response, signal),
  );
}

function toTexts(input: string | (string | { text?: string | null | undefined })[]): string[] {
  if (typeof input === 'string') return [input];
  const texts = input.filter((each) => typeof each === 'string');
  if (texts.length === input.length) return texts;
  return [input.map((each) => (typeof each === 'string' ? each : (each.text ?? ''))).join('\n')];
}
