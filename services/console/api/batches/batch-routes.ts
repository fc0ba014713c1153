import { Router } from 'express';
import { z } from 'zod';
import type { Batches } from '#shared/accounts/batches/batches.ts';
import type { BatchRecord } from '#shared/accounts/batches/batch-record.ts';
import type { BatchWork } from '#shared/accounts/batches/batch-work.ts';
import type { Batch, BatchDetails } from '../../contract/batches.ts';
import { requireAccess, type Action } from '../access.ts';
import { notFound } from '../api-failure.ts';
import { record, type ApiParts } from '../api-parts.ts';
import { parse } from '../parse.ts';
import { signedInOf, type SignedIn } from '../session/signed-in.ts';
import { batchAnswer, batchDetails } from './batch-answers.ts';
import { ownerSchema, ownersOf, partyOf, partyOfId } from './owners.ts';

/** Batches of everybody that are shown at once. */
const mostOpen = 200;

const listQuery = z.object({
  owner: ownerSchema,
  limit: z.coerce.number().int().min(1).max(500).default(50),
  after: z.string().optional(),
});

export interface BatchRoutesParts extends Pick<ApiParts, 'accounts' | 'log'> {
  batches: Pick<Batches, 'listAll' | 'cancel'>;
  work: Pick<BatchWork, 'find' | 'open' | 'firstErrors'>;
  /** Segments of the APIs that have batches. */
  batchApis: readonly string[];
}

/** The routes of `contract/batches.ts` about batches, for signed-in people. */
export function batchRoutes(parts: BatchRoutesParts): Router {
  const { accounts, batches, work, batchApis } = parts;
  const routes = Router();
  routes.get('/batches', async (request, response) => {
    const person = signedInOf(response);
    const { owner, limit, after: cursor } = parse(listQuery, request.query);
    requireAccess('batch.see', person, partyOf(owner));
    const after = cursor === undefined ? undefined : await find(cursor, 'batch.see', person);
    const page = await batches.listAll(owner.id, batchApis, { limit, after });
    response.json({ batches: await answers(page.batches, person), more: page.hasMore });
  });
  routes.get('/batches/open', async (_, response) => {
    const person = signedInOf(response);
    requireAccess('background.see', person);
    response.json(await answers(await work.open(mostOpen), person));
  });
  routes.get('/batches/:id', async (request, response) => {
    const person = signedInOf(response);
    const batch = await find(request.params.id, 'batch.see', person);
    const [ownerOf, errors] = await Promise.all([ownersOf(accounts, [batch.owner]), work.firstErrors(batch.id)]);
    response.json(batchDetails(batch, ownerOf(batch.owner), person, errors) satisfies BatchDetails);
  });
  routes.post('/batches/:id/cancel', async (request, response) => {
    const person = signedInOf(response);
    const { id } = await find(request.params.id, 'batch.cancel', person);
    if (await batches.cancel(id)) {
      const target = { kind: 'batch', id, name: id };
      await record(parts, person, { action: 'batch.cancel', target, details: {} });
    }
    const [answer] = await answers([await find(id, 'batch.cancel', person)], person);
    response.json(answer);
  });
  return routes;

  /** A batch that this person may see, or do this to. @throws ApiFailure 403 or 404 */
  async function find(id: string, action: Action, person: SignedIn): Promise<BatchRecord> {
    const batch = /^[\w-]{1,80}$/.test(id) ? await work.find(id) : undefined;
    if (!batch) throw notFound();
    requireAccess(action, person, partyOfId(person, batch.owner));
    return batch;
  }

  async function answers(records: readonly BatchRecord[], person: SignedIn): Promise<Batch[]> {
    const ownerOf = await ownersOf(
      accounts,
      records.map(({ owner }) => owner),
    );
    return records.map((batch) => batchAnswer(batch, ownerOf(batch.owner), person));
  }
}
