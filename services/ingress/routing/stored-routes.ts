import type { Request, Response, Router } from 'express';
import { findStoreOwner } from '#shared/accounts/keys/key-record.ts';
import { isOver, type BackgroundRecord } from '#shared/accounts/responses/background/background-record.ts';
import type { StoredResponse } from '#shared/accounts/responses/stored/stored-responses.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import type { ClientFormat } from '#shared/formats/client-format.ts';
import type { StoredAnswers } from '#shared/formats/stored-answers.ts';
import { resolveStored, type AnswerStore } from '#shared/serving/stored/resolve-stored.ts';
import type { openResponses } from '../background/open-responses.ts';
import { streamBackground } from '../background/stream-background.ts';
import { createErrorHandler, refuseMethod } from '../http/answer-error.ts';
import type { HandleKeyed } from '../idempotency/handle-idempotently.ts';
import { getRequestContext } from '../http/request-context.ts';
import type { RequestParts } from '../http/request-parts.ts';
import type { AddApiRoutes } from './api-routes.ts';

type StoredRoutesParts = Pick<ReturnType<typeof openResponses>, 'answers' | 'background'> &
  Pick<RequestParts, 'heldBodies' | 'log'>;

interface StoringFormat extends ClientFormat {
  stored: StoredAnswers;
}

/**
 * Creates the routes of stored answers and background responses. They serve only the answers of the key's owner, and answer `not_found` for
 * every other answer. Mount them after the routes of the formats with paths that look like the id of an answer.
 */
export function createStoredRoutes(
  requests: RequestParts,
  { answers, background }: Pick<StoredRoutesParts, 'answers' | 'background'>,
  handleKeyed: HandleKeyed,
): AddApiRoutes {
  const { heldBodies, log } = requests;
  return (routes, _, formats) => {
    for (const format of formats.filter(isStoring)) {
      addStoredRoutes(routes, format, { answers, background, heldBodies, log }, handleKeyed);
      routes.use(format.stored.path, createErrorHandler(format, requests));
    }
  };
}

function isStoring(format: ClientFormat): format is StoringFormat {
  return format.stored !== undefined;
}

function addStoredRoutes(
  router: Router,
  format: StoringFormat,
  parts: StoredRoutesParts,
  handleKeyed: HandleKeyed,
): void {
  const { stored, background: backgroundFormat } = format;
  const { answers, background } = parts;
  const answerPath = `${stored.path}/:id`;
  router.get(answerPath, async (request, response) => {
    const reference = { id: readId(request), owner: findOwner(response) };
    answers.assertIntact();
    if (request.method === 'HEAD' || !requestsStream(request.query)) {
      response.json(await readAnswer(format, parts, reference));
      return;
    }
    if (!backgroundFormat || !(await background.responses.find(reference.owner, reference.id))) {
      await findStored(answers, reference);
      const message = 'Only a response in the background can be streamed again, for as long as its events are kept.';
      throw new RouterError('unsupported_parameter', message, { param: 'stream' });
    }
    const after = readStartingAfter(request.query);
    // The client that creates a response needs no place: it has one stream, and the number of unfinished responses is bounded.
    const leave = background.places.occupy(reference.owner, reference.id);
    await streamBackground(response, { ...reference, backgroundFormat, after }, background).finally(leave);
  });
  router.delete(answerPath, async (request, response) => {
    const reference = { id: readId(request), owner: findOwner(response) };
    answers.assertIntact();
    const { id, owner } = reference;
    const record = await background.responses.find(owner, id);
    const isCancelled = record !== undefined && (await cancelAnswer(format, parts, record, true));
    const wasStored = await answers.responses.delete(owner, id);
    const wasInBackground = isCancelled || (record !== undefined && (await background.responses.delete(owner, id)));
    if (!wasStored && !wasInBackground) throw notFoundError(id);
    response.json(stored.showRemoval(id));
  });
  router.all(answerPath, refuseMethod('GET', 'HEAD', 'DELETE'));
  router.get(`${answerPath}/input_items`, async (request, response) => {
    const reference = { id: readId(request), owner: findOwner(response) };
    answers.assertIntact();
    response.json(stored.listItems(await readInput(format, parts, reference, response), request.query));
  });
  router.all(`${answerPath}/input_items`, refuseMethod('GET', 'HEAD'));
  const handleCancel = handleKeyed(format, 'unread', async (request, response) => {
    const reference = { id: readId(request), owner: findOwner(response) };
    answers.assertIntact();
    const record = await background.responses.find(reference.owner, reference.id);
    if (record) await cancelAnswer(format, parts, record);
    const answer = await readAnswer(format, parts, reference);
    if (!record) throw new RouterError('invalid_request', 'Cannot cancel a synchronous response.');
    response.json(answer);
  });
  router.post(`${answerPath}/cancel`, handleCancel);
  router.all(`${answerPath}/cancel`, refuseMethod('POST'));
}

interface AnswerReference {
  id: string;
  owner: string;
}

/** Returns the current object of an answer. */
async function readAnswer(
  format: StoringFormat,
  { answers, background }: StoredRoutesParts,
  reference: AnswerReference,
): Promise<JsonObject> {
  const { id, owner } = reference;
  const stored = await answers.responses.find(owner, id);
  if (stored) return stored.response;
  const record = await background.responses.find(owner, id);
  const object = record && (await background.responses.readObject(record));
  if (record && object && format.background) return format.background.withState(object, record.state);
  // A background response that ended meanwhile is stored by now.
  return (await findStored(answers, reference)).response;
}

/**
 * Cancels an answer that is being made in the background. With `alsoDeletes`, also deletes the answer. A finished answer stays as it is.
 * @returns whether the answer was cancelled
 */
async function cancelAnswer(
  { background: backgroundFormat }: StoringFormat,
  { background: { responses, jobs }, log }: StoredRoutesParts,
  record: BackgroundRecord,
  alsoDeletes = false,
): Promise<boolean> {
  if (!backgroundFormat || isOver(record)) return false;
  const object = await responses.readObject(record);
  if (!object || !(await responses.cancel(record, backgroundFormat.withState(object, 'cancelled'), alsoDeletes)))
    return false;
  // The job is removed because the jobs of cancelled responses could fill the queue. A job that stays does nothing.
  const { id } = record;
  await jobs
    .remove({ queue: 'responses', id })
    .catch((error: unknown) => log.debug({ err: error, id }, 'the job of a cancelled response stays until its turn'));
  return true;
}

/** Returns the items of an answer's own input, even while the answer is being made. */
async function readInput(
  format: StoringFormat,
  parts: StoredRoutesParts,
  reference: AnswerReference,
  response: Response,
): Promise<JsonObject[]> {
  const { answers, background, heldBodies } = parts;
  const { id, owner } = reference;
  const stored = await answers.responses.find(owner, id);
  if (stored) return stored.input;
  const record = await background.responses.find(owner, id);
  if (!record) return (await findStored(answers, reference)).input;
  const memory = getRequestContext(response).reserveBody(heldBodies);
  memory.grow(record.requestBytes);
  const body = (await background.responses.readRequest(record))?.['body'];
  if (typeof body !== 'string') return (await findStored(answers, reference)).input;
  const { store, ...request } = format.read(Buffer.from(body), 'generate');
  // The history is not part of the input.
  const ownRequest = { ...request, store: store && { ...store, previous: undefined } };
  const grow = (bytes: number): void => memory.grow(bytes);
  const { toStore } = await resolveStored(answers, format, 'generate', ownRequest, owner, grow, id);
  return format.stored.toStoredInput(toStore?.input ?? []);
}

async function findStored({ responses }: AnswerStore, { id, owner }: AnswerReference): Promise<StoredResponse> {
  const stored = await responses.find(owner, id);
  if (!stored) throw notFoundError(id);
  return stored;
}

function readId({ params }: Request): string {
  const { id } = params;
  return typeof id === 'string' ? id : '';
}

function findOwner(response: Response): string {
  return findStoreOwner(getRequestContext(response).identity);
}

type Query = Readonly<Record<string, unknown>>;

function requestsStream({ stream }: Query): boolean {
  return stream !== undefined && stream !== 'false';
}

/** Returns the number of the event that a stream continues after; -1 for the whole stream. */
function readStartingAfter({ starting_after: after }: Query): number {
  if (after === undefined) return -1;
  if (typeof after === 'string' && /^\d{1,15}$/.test(after)) return Number(after);
  throw new RouterError('invalid_request', "Invalid 'starting_after': the number of an event is expected.", {
    param: 'starting_after',
  });
}

function notFoundError(id: string): RouterError {
  return new RouterError('not_found', `Response with id '${id}' not found.`);
}
