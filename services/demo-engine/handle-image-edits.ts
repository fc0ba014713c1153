import { hash, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { RouterError } from '#shared/core/errors.ts';
import { countTokens } from '#shared/upstream/o200k-tokens.ts';
import { answerWithSlot } from './answer-with-slot.ts';
import { requireModel, type Engine } from './engine.ts';
import { drawPicture } from './media/draw-picture.ts';
import { sendComputed } from './reply/send-computed.ts';
import { resolveDemoOptions, findDemoWords, removeDemoLine } from './request/demo-options.ts';
import { imageEditsRequestSchema } from './request/media-requests.ts';
import { parseBody, readFormBody } from './request/read-body.ts';

/**
 * Handles `POST /v1/images/edits`. The body is a form. The same pictures and the same text always give the same result.
 * @throws RouterError when the request is refused; the signal's reason when the client disconnects
 */
export async function handleImageEdits(
  engine: Engine,
  http: IncomingMessage,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const { fields, files } = await readFormBody(http);
  const { model, prompt, n = '1' } = parseBody(imageEditsRequestSchema, fields);
  requireModel(engine, model, 'redraw');
  if (files.length === 0 || files.some(({ content }) => content.length === 0))
    throw new RouterError('invalid_request', 'A picture is empty, or there is none.', { param: 'image' });
  const demo = resolveDemoOptions(engine.defaults, undefined, findDemoWords(prompt));
  const tokens = await countTokens(prompt, signal);
  const facts = {
    id: `img-${randomUUID()}`,
    model,
    stream: false,
    messages: 1,
    tools: 0,
    fields: [...Object.keys(fields), ...files.map(({ field }) => field)],
    request_id: http.headers['x-request-id']?.toString() ?? null,
    prompt_tokens: tokens,
  };
  await answerWithSlot(engine, { facts, demo, response, signal }, () => {
    const fileDigests = files.map(({ field, content }) => `${field} ${hash('sha256', content)}`).join(' ');
    const data = Array.from({ length: Number(n) }, (_, at) => ({
      b64_json: drawPicture(`${at} ${removeDemoLine(prompt)} ${fileDigests}`).toString('base64'),
    }));
    const usage = { input_tokens: tokens, output_tokens: 0, total_tokens: tokens };
    return sendComputed({ created: Math.floor(Date.now() / 1000), data, usage }, demo, response, signal);
  });
}
