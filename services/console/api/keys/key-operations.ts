import { z } from 'zod';
import { rotateKey, type CreatedKey } from '#shared/accounts/keys/create-key.ts';
import type { KeyKind } from '#shared/accounts/keys/key-format.ts';
import { isUsable, type FoundKey } from '#shared/accounts/keys/key-record.ts';
import { isKeyId } from '#shared/accounts/keys/parse-key.ts';
import { createdKeySchema, keySchema, type Key } from '../../contract/account.ts';
import { requireAccess, type Action } from '../access.ts';
import type { Actor } from '../actor.ts';
import { ApiFailure, forbidden, notFound } from '../api-failure.ts';
import { record, type ApiParts } from '../api-parts.ts';
import { listOperation, operation, type Operation } from '../operations/operation.ts';
import { requireRevision } from '../operations/require-revision.ts';
import { parse } from '../parse.ts';
import { changeKey, isUnchangedBy } from './change-key.ts';
import { keyAnswers } from './key-answers.ts';
import { notCreated, notUsable } from './key-failures.ts';
import { keyChange, keyName, namedKey, newKey, rotation } from './key-inputs.ts';
import { isIssuedKey, makeKey, mayMakePersonalKeys, ownerOf } from './make-key.ts';
import { visibleKeys } from './visible-keys.ts';

const upsertedKeySchema = createdKeySchema.partial({ raw: true }).meta({ id: 'UpsertedKey' });

type NotedKey = Pick<FoundKey, 'id' | 'name' | 'kind' | 'ownerId'>;

export function keyOperations(parts: ApiParts): Operation[] {
  const { accounts, announce, recordings } = parts;
  const { keys } = accounts;
  const byId = { path: '/keys/{id}', subject: 'keys' } as const;

  return [
    listOperation({
      path: '/keys',
      id: 'listKeys',
      subject: 'keys',
      summary:
        'Lists the keys that the person may see: their own and those of their teams; for an administrator, all. Oldest first.',
      scopes: ['read', 'keys'],
      command: 'keys list',
      query: z.object({
        owner: z.string().max(40).optional().describe('Only those of this person or team, by its id.'),
      }),
      item: keySchema,
      handle: async ({ actor, query: { owner } }, page) => {
        const { data, next } = await visibleKeys(keys, actor, owner, page);
        return { data: await keyAnswers(accounts, data, recordings.isOn), next };
      },
    }),
    operation({
      ...byId,
      method: 'get',
      id: 'getKey',
      summary: 'Answers a key, without its secret.',
      scopes: ['read', 'keys'],
      command: 'keys show',
      answer: keySchema,
      etags: { answers: true },
      handle: async ({ actor, params: { id }, reply }) => answerOf(await find(id, 'key.see', actor), reply),
    }),
    operation({
      method: 'post',
      path: '/keys',
      id: 'createKey',
      subject: 'keys',
      summary: 'Makes a key. The answer is the only one that has its secret.',
      scopes: ['keys'],
      command: 'keys create',
      body: newKey,
      answer: createdKeySchema,
      statuses: [201],
      handle: async ({ actor, body }) => createdAnswer(await create(actor, body)),
    }),
    operation({
      method: 'put',
      path: '/keys-by-name/{name}',
      id: 'upsertKey',
      subject: 'keys',
      summary:
        'Changes the usable key of this name and owner, or makes it. What is absent stays as it is; a new key comes with its secret.',
      scopes: ['keys'],
      command: 'apply',
      body: namedKey,
      answer: upsertedKeySchema,
      statuses: [200, 201],
      etags: { answers: true, takes: true },
      handle: async ({ actor, params, body, ifRevision, request, reply }) => {
        const { kind, userId = actor.id, teamId, ...wanted } = body;
        const { name } = parse(keyName, { name: params.name });
        const ownerId = kind === 'router' ? undefined : kind === 'team' ? teamId : userId;
        return accounts.nameLock.runLocked(`key:${kind}:${ownerId}:${name}`, async () => {
          const [key, ...others] = await liveKeysOf(actor, kind, ownerId, name);
          if (others.length > 0) throw new ApiFailure(409, 'ambiguous_name', 'Several keys have this name.');
          requireRevision(key, { request, ifRevision });
          if (key) {
            const now = isUnchangedBy(actor, key, wanted) ? key : await changed(actor, key, wanted, ifRevision);
            return { key: await answerOf(now, reply) };
          }
          reply.status = 201;
          return createdAnswer(await create(actor, parse(newKey, { ...withoutNulls(body), name })), reply);
        });
      },
    }),
    operation({
      ...byId,
      method: 'patch',
      id: 'changeKey',
      summary: 'Changes the settings of a key; null removes a restriction.',
      scopes: ['keys'],
      command: 'keys set',
      body: keyChange,
      answer: keySchema,
      etags: { answers: true, takes: true },
      handle: async ({ actor, params: { id }, body, ifRevision, reply }) => {
        const key = await find(id, 'key.change', actor);
        return answerOf(await changed(actor, key, body, ifRevision), reply);
      },
    }),
    operation({
      method: 'post',
      path: '/keys/{id}/rotate',
      id: 'rotateKey',
      subject: 'keys',
      summary:
        'Makes a successor with the same settings, and lets the key expire after a time. What both use is counted together. Only its owner rotates a key that reaches what is theirs: others revoke it.',
      scopes: ['keys'],
      command: 'keys rotate',
      body: rotation,
      answer: createdKeySchema,
      statuses: [201],
      handle: async ({ actor, params: { id }, body: { overlapMs } }) => {
        const key = await find(id, 'key.change', actor);
        const owner = ownerOf(key);
        const isIssued = owner !== undefined && isIssuedKey(actor, owner);
        if (isIssued && (key.kind === 'user' || key.storesAs === undefined)) {
          const message =
            'Whoever rotates this key can read what it has stored: only its owner may. Revoke it, and make another one.';
          throw forbidden(message);
        }
        // While both keys work, the person has one key more.
        if (overlapMs > 0 && key.kind === 'user' && !(await mayMakePersonalKeys(parts, actor))) {
          throw forbidden('Only administrators may create personal keys here. Replace this one without an overlap.');
        }
        const created = await rotateKey(keys, key, {
          createdBy: actor.id,
          ...(isIssued && { issuedBy: actor.id }),
          overlapMs,
        });
        if (created === 'not usable') throw notUsable();
        if (typeof created === 'string') throw notCreated(created);
        await announce(key.id);
        await note('key.rotate', actor, key, { newId: created.record.id, overlapMs });
        return createdAnswer(created);
      },
    }),
    operation({
      ...byId,
      method: 'delete',
      id: 'revokeKey',
      summary: 'Revokes a key for good.',
      scopes: ['keys'],
      command: 'keys revoke',
      handle: async ({ actor, params: { id } }) => {
        const key = await find(id, 'key.change', actor);
        const outcome = await keys.revoke(key.id, Date.now());
        // Every ingress is told, even of a second revocation: it may be meant for those that the first message did not reach.
        await announce(key.id);
        if (outcome === 'revoked') await note('key.revoke', actor, key, {});
      },
    }),
  ];

  async function create(actor: Actor, wanted: z.output<typeof newKey>): Promise<CreatedKey> {
    const created = await makeKey(parts, actor, wanted);
    await note('key.create', actor, created.record, { class: created.record.class });
    return created;
  }

  function changed(
    actor: Actor,
    key: FoundKey,
    wanted: z.output<typeof keyChange>,
    ifRevision?: number,
  ): Promise<FoundKey> {
    return changeKey(parts, actor, key, { wanted, ifRevision, again: () => find(key.id, 'key.change', actor) });
  }

  /**
   * Returns the usable keys with this name that an owner has.
   * @throws ApiFailure 403 or 404 when the actor may not change them
   */
  async function liveKeysOf(
    actor: Actor,
    kind: KeyKind,
    ownerId: string | undefined,
    name: string,
  ): Promise<FoundKey[]> {
    if (kind === 'router') requireAccess('key.make.router', actor);
    else if (ownerId !== undefined) requireAccess('key.make', actor, { kind, id: ownerId });
    const all = ownerId === undefined ? await keys.listRouterKeys(name) : await keys.listOfOwner(ownerId);
    const now = Date.now();
    return all.filter(
      (key) => key.kind === kind && key.name === name && key.replacedBy === undefined && isUsable(key, now),
    );
  }

  /**
   * Returns a key on which a person may do an action.
   * @throws ApiFailure 403 or 404
   */
  async function find(id: string, action: Action, actor: Actor): Promise<FoundKey> {
    const key = isKeyId(id) ? await keys.find(id) : undefined;
    if (!key) throw notFound();
    requireAccess(action, actor, ownerOf(key));
    return key;
  }

  async function answerOf(key: FoundKey, reply: { revision?: number }): Promise<Key> {
    const [answer] = await keyAnswers(accounts, [key], recordings.isOn);
    if (!answer) throw notFound();
    reply.revision = key.revision ?? 0;
    return answer;
  }

  async function createdAnswer(
    { rawKey: raw, record: { id } }: CreatedKey,
    reply: { revision?: number } = {},
  ): Promise<{ key: Key; raw: string }> {
    const key = await keys.find(id);
    if (!key) throw notFound();
    return { key: await answerOf(key, reply), raw };
  }

  function note(action: string, actor: Actor, { id, name, kind, ownerId }: NotedKey, details: object) {
    const target = { kind: 'key', id, name };
    return record(parts, actor, { action, target, details: { kind, ownerId, ...details }, ofTeam: kind === 'team' });
  }
}

function withoutNulls(input: object): object {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null));
}
