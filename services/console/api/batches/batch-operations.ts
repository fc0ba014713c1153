import { z } from 'zod';
import type { Batches } from '#shared/accounts/batches/batches.ts';
import type { BatchRecord } from '#shared/accounts/batches/batch-record.ts';
import type { BatchWork } from '#shared/accounts/batches/batch-work.ts';
import { batchDetailsSchema, batchSchema, type Batch } from '../../contract/batches.ts';
import { requireAccess, type Action } from '../access.ts';
import type { Actor } from '../actor.ts';
import { notFound } from '../api-failure.ts';
import { writeAudit, type ApiParts } from '../api-parts.ts';
import { operation, type Operation } from '../operations/operation.ts';
import { toBatchAnswer, toBatchDetails } from './batch-answers.ts';
import { findOwners, ownerText, toResourceOwner, findResourceOwner, parseOwner } from './resource-owners.ts';

const maxOpen = 200;

const listQuery = z.object({
  owner: ownerText,
  limit: z.coerce.number().int().min(1).max(500).default(50),
  after: z.string().optional(),
});

export interface BatchParts extends Pick<ApiParts, 'accounts' | 'log'> {
  batches: Pick<Batches, 'listAll' | 'cancel'>;
  work: Pick<BatchWork, 'find' | 'listOpen' | 'readFirstErrors'>;
  /** The path segments of the APIs that accept batches. */
  batchApis: readonly string[];
}

export function batchOperations(parts: BatchParts): Operation[] {
  const { accounts, batches, work, batchApis } = parts;
  const common = { subject: 'batches', scopes: ['read'] } as const;
  return [
    operation({
      ...common,
      method: 'get',
      path: '/batches',
      id: 'listBatches',
      summary: 'Lists the batches of a person, a team or a router key, newest first.',
      command: 'admin batches list',
      form: {
        arguments: ['owner'],
        items: 'batches',
        columns: ['id', 'owner', 'state', 'total', 'succeeded', 'errored', 'createdAt', 'model'],
        none: 'There are no batches.',
      },
      query: listQuery,
      answer: z.object({ batches: z.array(batchSchema), more: z.boolean() }),
      handle: async ({ actor, query: { owner: text, limit, after: cursor } }) => {
        const owner = parseOwner(text);
        requireAccess('batch.see', actor, toResourceOwner(owner));
        const after = cursor === undefined ? undefined : await find(cursor, 'batch.see', actor);
        const page = await batches.listAll(owner.id, batchApis, { limit, after });
        return { batches: await toAnswers(page.batches, actor), more: page.hasMore };
      },
    }),
    operation({
      ...common,
      method: 'get',
      path: '/batches/open',
      id: 'listOpenBatches',
      summary: 'Lists the unfinished batches of all owners. The next to expire comes first.',
      command: 'admin batches open',
      form: {
        columns: ['id', 'owner', 'state', 'total', 'succeeded', 'errored', 'createdAt', 'model'],
        none: 'All batches are over.',
      },
      answer: z.array(batchSchema),
      handle: async ({ actor }) => {
        requireAccess('background.see', actor);
        return toAnswers(await work.listOpen(maxOpen), actor);
      },
    }),
    operation({
      ...common,
      method: 'get',
      path: '/batches/{id}',
      id: 'getBatch',
      summary: 'Returns a batch, with the errors of its input and of its first failed requests.',
      command: 'admin batches show',
      answer: batchDetailsSchema,
      handle: async ({ actor, params: { id } }) => {
        const batch = await find(id, 'batch.see', actor);
        const [ownerOf, errors] = await Promise.all([
          findOwners(accounts, [batch.owner]),
          work.readFirstErrors(batch.id),
        ]);
        return toBatchDetails(batch, ownerOf(batch.owner), actor, errors);
      },
    }),
    operation({
      method: 'post',
      path: '/batches/{id}/cancel',
      id: 'cancelBatch',
      subject: 'batches',
      summary: 'Cancels a batch. The results that the batch has so far are kept.',
      scopes: [],
      command: 'admin batches cancel',
      form: { done: 'Batch {id} of {owner} is being cancelled, or was over already.' },
      answer: batchSchema,
      handle: async ({ actor, params }) => {
        const { id, owner } = await find(params.id, 'batch.cancel', actor);
        if (await batches.cancel(id)) {
          const target = { kind: 'batch', id, name: id };
          await writeAudit(parts, actor, {
            action: 'batch.cancel',
            target,
            details: {},
            ofTeam: actor.teams.has(owner),
          });
        }
        const [answer] = await toAnswers([await find(id, 'batch.cancel', actor)], actor);
        if (!answer) throw notFound();
        return answer;
      },
    }),
  ];

  /**
   * Finds a batch and checks that the person may do the action on it.
   * @throws ApiFailure 403 or 404
   */
  async function find(id: string, action: Action, actor: Actor): Promise<BatchRecord> {
    const batch = /^[\w-]{1,80}$/.test(id) ? await work.find(id) : undefined;
    if (!batch) throw notFound();
    requireAccess(action, actor, findResourceOwner(actor, batch.owner));
    return batch;
  }

  async function toAnswers(records: readonly BatchRecord[], actor: Actor): Promise<Batch[]> {
    const ownerOf = await findOwners(
      accounts,
      records.map(({ owner }) => owner),
    );
    return records.map((batch) => toBatchAnswer(batch, ownerOf(batch.owner), actor));
  }
}
