import type { Request, Response, Router } from 'express';
import type { StoredResponse } from '#shared/accounts/stored-responses/stored-responses.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { StoredAnswers } from '#shared/formats/stored-answers.ts';
import { senderOf } from '#shared/serving/sender-of.ts';
import type { AnswerStore } from '#shared/serving/stored/resolve-stored.ts';
import { wrongMethod } from '../http/answer-error.ts';
import { identityOf } from '../http/require-key.ts';

/**
 * Adds the paths of a format's stored answers to a router. They find the answers of the key's owner alone; those of others are unknown.
 * Mount it behind `requireKey`, and behind the paths of the format that look like an answer's.
 */
export function addStoredRoutes(router: Router, { path, listItems, removed }: StoredAnswers, store: AnswerStore): void {
  const one = `${path}/:id`;
  router.get(one, async (request, response) => {
    refuseStream(request.query);
    const { response: answer } = await find(store, response, idOf(request));
    response.json(answer);
  });
  router.delete(one, async (request, response) => {
    const id = idOf(request);
    store.assertIntact();
    if (!(await store.responses.remove(ownerOf(response), id))) throw notFound(id);
    response.json(removed(id));
  });
  router.all(one, wrongMethod('GET', 'HEAD', 'DELETE'));
  router.get(`${one}/input_items`, async (request, response) => {
    const { input } = await find(store, response, idOf(request));
    response.json(listItems(input, request.query));
  });
  router.all(`${one}/input_items`, wrongMethod('GET', 'HEAD'));
  router.post(`${one}/cancel`, async (request, response) => {
    await find(store, response, idOf(request));
    throw new RouterError('invalid_request', 'Cannot cancel a synchronous response.');
  });
  router.all(`${one}/cancel`, wrongMethod('POST'));
}

async function find(store: AnswerStore, response: Response, id: string): Promise<StoredResponse> {
  store.assertIntact();
  const stored = await store.responses.find(ownerOf(response), id);
  if (!stored) throw notFound(id);
  return stored;
}

function idOf({ params }: Request): string {
  const { id } = params;
  return typeof id === 'string' ? id : '';
}

function ownerOf(response: Response): string {
  return senderOf(identityOf(response)).owner;
}

function refuseStream({ stream }: Readonly<Record<string, unknown>>): void {
  if (stream === undefined || stream === 'false') return;
  throw new RouterError(
    'unsupported_parameter',
    'A stored response cannot be streamed: this router has no background responses.',
    {
      param: 'stream',
    },
  );
}

function notFound(id: string): RouterError {
  return new RouterError('not_found', `Response with id '${id}' not found.`);
}
