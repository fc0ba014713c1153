import type { Response } from 'express';
import { findStoreOwner } from '#shared/accounts/keys/key-record.ts';
import { createResponseJob } from '#shared/background/response-jobs.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { Logger } from '#shared/core/log.ts';
import { createAnswerId, type ClientFormat, type ClientRequest } from '#shared/formats/client-format.ts';
import { findLanes } from '#shared/serving/find-lanes.ts';
import type { RequestOptions } from '#shared/serving/request-options.ts';
import type { ServingComponents } from '#shared/serving/serve-model.ts';
import { type AnswerStore, resolveStored } from '#shared/serving/stored/resolve-stored.ts';
import { getRequestContext } from '../http/request-context.ts';
import type { BackgroundParts, StreamRequest } from './stream-background.ts';

export interface AnswerInBackgroundParts extends Pick<ServingComponents, 'workers' | 'registry' | 'priceOf'> {
  answers: AnswerStore;
  background: BackgroundParts;
  log: Logger;
}

/**
 * Stores a request for a background response. Responds at once with the object of the unfinished response, unless the client asks for a
 * stream.
 * @returns the stream to open for the client; undefined if the client got the object
 * @throws RouterError for a request that refers to missing stored objects; `rate_limit_exceeded`, `store_unavailable`
 */
export async function answerInBackground(
  response: Response,
  format: ClientFormat,
  client: ClientRequest,
  { headers, session, sentFor }: RequestOptions,
  parts: AnswerInBackgroundParts,
): Promise<StreamRequest | undefined> {
  const { background, parameters } = client;
  const { answers } = parts;
  const backgroundFormat = format.background;
  if (!background || !backgroundFormat || !answers.storesAnswers) {
    const message =
      'This router stores no answers, so it makes none in the background. Leave `background` out, or stream.';
    throw new RouterError('unsupported_parameter', message, { param: 'background' });
  }
  answers.assertIntact();
  const { identity, requestId, isRecorded, memory } = getRequestContext(response);
  const owner = findStoreOwner(identity);
  // The run resolves the references of the request again. Resolving them here refuses a missing reference early.
  await resolveStored(answers, format, 'generate', client, owner, (bytes) => memory.grow(bytes));
  findLanes(parts, { parameters, operation: 'generate', format: format.name }, identity, sentFor);
  const id = createAnswerId(format);
  const queued = background.queuedAnswer(id);
  const createdAt = Date.now();
  const { responses, jobs } = parts.background;
  const facts = { id, owner, key: identity.id, format: format.name };
  const times = { createdAt, expiresAt: createdAt + responses.openMs };
  const openCount = await responses.create(
    { ...facts, ...times, requestId },
    {
      request: { body: background.body().toString(), headers, session, sentFor, isRecorded },
      queued,
      ...backgroundFormat.writeQueuedEvents(queued),
    },
  );
  // If this fails, the repair of the queue adds the job.
  await jobs
    .add(createResponseJob(id, openCount))
    .catch((error: unknown) => parts.log.warn({ err: error, id }, 'a response in the background has no job yet'));
  if (parameters.stream) return { id, owner, backgroundFormat, after: -1 };
  response.json(queued);
  return undefined;
}
