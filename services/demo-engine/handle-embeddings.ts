import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { RouterError } from '#shared/core/errors.ts';
import { countTokens } from '#shared/upstream/o200k-tokens.ts';
import { answerWithSlot } from './answer-with-slot.ts';
import { requireModel, type Engine } from './engine.ts';
import { sendComputed } from './reply/send-computed.ts';
import { resolveDemoOptions, findDemoWords } from './request/demo-options.ts';
import { parseBody, readJsonBody } from './request/read-body.ts';
import { embeddingsRequestSchema } from './request/vector-requests.ts';
import { embedText, embedTokens } from './vectors/embed-text.ts';

/**
 * Handles `POST /v1/embeddings`.
 * @throws RouterError when the request is refused; the signal's reason when the client disconnects
 */
export async function handleEmbeddings(
  engine: Engine,
  http: IncomingMessage,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const body = await readJsonBody(http);
  const {
    model,
    input,
    dimensions,
    encoding_format: encoding,
    demo: options,
  } = parseBody(embeddingsRequestSchema, body);
  requireModel(engine, model, 'embed');
  const inputs = listInputs(input);
  if (inputs.length === 0) throw new RouterError('invalid_request', 'The input is empty.', { param: 'input' });
  const [first] = inputs;
  const demo = resolveDemoOptions(
    engine.defaults,
    options,
    typeof first === 'string' ? findDemoWords(first) : undefined,
  );
  let tokens = 0;
  for (const text of inputs) tokens += typeof text === 'string' ? await countTokens(text, signal) : text.length;
  const facts = {
    id: `embd-${randomUUID()}`,
    model,
    stream: false,
    messages: inputs.length,
    tools: 0,
    fields: Object.keys(body),
    request_id: http.headers['x-request-id']?.toString() ?? null,
    prompt_tokens: tokens,
  };
  await answerWithSlot(engine, { facts, demo, response, signal }, ({ id }) => {
    const data = inputs.map((text, index) => {
      const size = dimensions ?? undefined;
      const vector = typeof text === 'string' ? embedText(text, size) : embedTokens(text, size);
      return { object: 'embedding', index, embedding: encoding === 'base64' ? toBase64(vector) : vector };
    });
    const usage = { prompt_tokens: tokens, total_tokens: tokens, completion_tokens: 0 };
    return sendComputed({ id, object: 'list', model, data, usage }, demo, response, signal);
  });
}

function listInputs(input: string | string[] | number[] | number[][]): (string | number[])[] {
  if (typeof input === 'string') return [input];
  const tokens = input.filter((each) => typeof each === 'number');
  return tokens.length > 0 ? [tokens] : input.filter((each) => typeof each !== 'number');
}

function toBase64(vector: readonly number[]): string {
  return Buffer.from(Float32Array.from(vector).buffer).toString('base64');
}
