import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { RouterError } from '#shared/core/errors.ts';
import { countTokens } from '#shared/upstream/o200k-tokens.ts';
import { splitIntoTokens } from './answer/split-into-tokens.ts';
import { answerWithSlot } from './answer-with-slot.ts';
import { requireModel, type Engine } from './engine.ts';
import { streamSound } from './reply/stream-sound.ts';
import { resolveDemoOptions, findDemoWords, removeDemoLine } from './request/demo-options.ts';
import { speechRequestSchema } from './request/media-requests.ts';
import { parseBody, readJsonBody } from './request/read-body.ts';

/**
 * Handles `POST /v1/audio/speech`. The answer has a tone for each token of the input.
 * @throws RouterError when the request is refused; the signal's reason when the client disconnects
 */
export async function handleSpeech(
  engine: Engine,
  http: IncomingMessage,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const body = await readJsonBody(http);
  const { model, input, demo: options } = parseBody(speechRequestSchema, body);
  requireModel(engine, model, 'speak');
  if (input === '') throw new RouterError('invalid_request', 'The input is empty.', { param: 'input' });
  const demo = resolveDemoOptions(engine.defaults, options, findDemoWords(input));
  const facts = {
    id: `speech-${randomUUID()}`,
    model,
    stream: true,
    messages: 1,
    tools: 0,
    fields: Object.keys(body),
    request_id: http.headers['x-request-id']?.toString() ?? null,
    prompt_tokens: await countTokens(input, signal),
  };
  await answerWithSlot(engine, { facts, demo, response, signal }, (countedFacts) =>
    streamSound(
      splitIntoTokens(removeDemoLine(input)),
      demo,
      (tokens) => {
        countedFacts.completion_tokens += tokens;
      },
      response,
      signal,
    ),
  );
}
