import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { RouterError } from '#shared/core/errors.ts';
import { countTokens } from '#shared/upstream/o200k-tokens.ts';
import { answerWithSlot } from './answer-with-slot.ts';
import { requireModel, type Engine } from './engine.ts';
import { drawPicture } from './media/draw-picture.ts';
import { sendComputed } from './reply/send-computed.ts';
import { resolveDemoOptions, findDemoWords, removeDemoLine } from './request/demo-options.ts';
import { imagesRequestSchema } from './request/media-requests.ts';
import { parseBody, readJsonBody } from './request/read-body.ts';

/**
 * Handles `POST /v1/images/generations`.
 * @throws RouterError when the request is refused; the signal's reason when the client disconnects
 */
export async function handleImages(
  engine: Engine,
  http: IncomingMessage,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const body = await readJsonBody(http);
  const { model, prompt, n, size, demo: options } = parseBody(imagesRequestSchema, body);
  requireModel(engine, model, 'draw');
  if (prompt === '') throw new RouterError('invalid_request', 'The prompt is empty.', { param: 'prompt' });
  const demo = resolveDemoOptions(engine.defaults, options, findDemoWords(prompt));
  const tokens = await countTokens(prompt, signal);
  const facts = {
    id: `img-${randomUUID()}`,
    model,
    stream: false,
    messages: 1,
    tools: 0,
    fields: Object.keys(body),
    request_id: http.headers['x-request-id']?.toString() ?? null,
    prompt_tokens: tokens,
  };
  await answerWithSlot(engine, { facts, demo, response, signal }, () => {
    const text = removeDemoLine(prompt);
    const data = Array.from({ length: n ?? 1 }, (_, at) => ({
      b64_json: drawPicture(`${at} ${text}`, readSide(size)).toString('base64'),
    }));
    const usage = { input_tokens: tokens, output_tokens: 0, total_tokens: tokens };
    const created = Math.floor(Date.now() / 1000);
    return sendComputed({ created, data, output_format: 'png', usage }, demo, response, signal);
  });
}

/** Returns the number of pixels of a side, up to 2048. Returns undefined for a text that is not the size of a square. */
function readSide(size: string | null | undefined): number | undefined {
  const side = Number(/^(\d{1,4})x\1$/.exec(size ?? '')?.[1]);
  return side >= 1 && side <= 2048 ? side : undefined;
}
