import { z } from 'zod';
import { rotateKey, type CreatedKey } from '#shared/accounts/keys/create-key.ts';
import type { KeyKind } from '#shared/accounts/keys/key-format.ts';
import { isUsable, type FoundKey } from '#shared/accounts/keys/key-record.ts';
import { isKeyId } from '#shared/accounts/keys/parse-key.ts';
import { createdKeySchema, keySchema, type Key } from '../../contract/keys.ts';
import { requireAccess, type Action } from '../access.ts';
import type { Actor } from '../actor.ts';
import { ApiFailure, forbidden, notFound } from '../api-failure.ts';
import { announceChange, writeAudit, type ApiParts } from '../api-parts.ts';
import { listOperation, operation, type Operation } from '../operations/operation.ts';
import { parse } from '../parse.ts';
import { changeKey, isUnchangedBy } from './change-key.ts';
import { toKeyAnswers, creationFailure, notUsableFailure } from './key-answers.ts';
import { findOwnerKind, keyChange, keyName, namedKey, newKey, ownerKind, rotation } from './key-inputs.ts';
import { isIssuedKey, makeKey, mayMakePersonalKeys, ownerOf } from './make-key.ts';
import { listVisibleKeys } from './visible-keys.ts';
import { requireRevision } from '../operations/if-match.ts';

const upsertedKeySchema = createdKeySchema.partial({ raw: true }).meta({ id: 'UpsertedKey' });

type AuditedKey = Pick<FoundKey, 'id' | 'name' | 'kind' | 'ownerId'>;

export function keyOperations(parts: ApiParts): Operation[] {
  const { accounts, recordings } = parts;
  const { keys } = accounts;
  const keyRoute = { path: '/keys/{id}', subject: 'keys' } as const;

  return [
    listOperation({
      path: '/keys',
      id: 'listKeys',
      subject: 'keys',
      summary:
        'Lists the keys that the person may see: their own and those of their teams; for an administrator, all keys. Oldest first.',
      scopes: ['read', 'keys'],
      command: 'keys list',
      form: {
        references: { owner: 'party id' },
        columns: [
          'id',
          'masked',
          'owner',
          'kind',
          'class',
          'classInForce',
          'createdAt',
          'expiresAt',
          'replacedBy',
          'revokedAt',
          'recording.of',
          'name',
        ],
        none: 'There are no keys yet. Make one with: rtr keys create --name <name>',
      },
      query: z.object({
        owner: z.string().max(40).optional().describe('The id of a person or team: lists only their keys.'),
      }),
      item: keySchema,
      handle: async ({ actor, query: { owner } }, page) => {
        const { data, next } = await listVisibleKeys(keys, actor, owner, page);
        return { data: await toKeyAnswers(accounts, data, recordings.isOn), next };
      },
    }),
    operation({
      ...keyRoute,
      method: 'get',
      id: 'getKey',
      summary: 'Returns a key, without its secret.',
      scopes: ['read', 'keys'],
      command: 'keys show',
      answer: keySchema,
      etags: { answers: true },
      handle: async ({ actor, params: { id }, reply }) => toAnswer(await find(id, 'key.see', actor), reply),
    }),
    operation({
      method: 'post',
      path: '/keys',
      id: 'createKey',
      subject: 'keys',
      summary: "Makes a key. Only this response contains the key's secret.",
      scopes: ['keys'],
      command: 'keys create',
      form: {
        done: 'Key "{key.name}", shown only this once: {raw}',
        example: 'keys create --name ci --team Research --models demo --expires 90d',
      },
      body: newKey.extend({ kind: ownerKind }),
      answer: createdKeySchema,
      statuses: [201],
      handle: async ({ actor, body }) => toCreatedAnswer(await create(actor, { ...body, kind: findOwnerKind(body) })),
    }),
    operation({
      method: 'put',
      path: '/keys-by-name/{name}',
      id: 'upsertKey',
      subject: 'keys',
      summary:
        'Changes the usable key with this name and owner, or makes a key. Absent settings stay as they are. The response contains the secret of a new key.',
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
          const [key, ...others] = await findUsableKeys(actor, kind, ownerId, name);
          if (others.length > 0) throw new ApiFailure(409, 'ambiguous_name', 'Several keys have this name.');
          requireRevision(key, { request, ifRevision });
          if (key) {
            const current = isUnchangedBy(actor, key, wanted) ? key : await change(actor, key, wanted, ifRevision);
            return { key: await toAnswer(current, reply) };
          }
          reply.status = 201;
          return toCreatedAnswer(await create(actor, parse(newKey, { ...removeNulls(body), name })), reply);
        });
      },
    }),
    operation({
      ...keyRoute,
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
        return toAnswer(await change(actor, key, body, ifRevision), reply);
      },
    }),
    operation({
      method: 'post',
      path: '/keys/{id}/rotate',
      id: 'rotateKey',
      subject: 'keys',
      summary:
        'Makes a successor with the same settings, and lets the replaced key expire after `overlapMs`. The use of both keys is counted together. Only its owner may rotate a key that can read what the owner has stored. Others may revoke it.',
      scopes: ['keys'],
      command: 'keys rotate',
      form: { done: 'The successor of key {key} is {key.id}, shown only this once: {raw}' },
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
        // An overlap gives the person one key more, so it needs the right to make keys.
        if (overlapMs > 0 && key.kind === 'user' && !(await mayMakePersonalKeys(parts, actor))) {
          throw forbidden('Only administrators may create personal keys here. Replace this one without an overlap.');
        }
        const replacement = { createdBy: actor.id, ...(isIssued && { issuedBy: actor.id }), overlapMs };
        const created = await announceChange(parts, key.id, () => rotateKey(keys, key, replacement));
        if (created === 'not usable') throw notUsableFailure();
        if (typeof created === 'string') throw creationFailure(created);
        await auditKey('key.rotate', actor, key, { newId: created.record.id, overlapMs });
        return toCreatedAnswer(created);
      },
    }),
    operation({
      ...keyRoute,
      method: 'delete',
      id: 'revokeKey',
      summary: 'Revokes a key for good.',
      scopes: ['keys'],
      command: 'keys revoke',
      form: { done: 'Key {key} is revoked.' },
      handle: async ({ actor, params: { id } }) => {
        const key = await find(id, 'key.change', actor);
        // Every ingress is notified even if the key was revoked already, because the first message may not have reached all of them.
        const outcome = await announceChange(parts, key.id, () => keys.revoke(key.id, Date.now()));
        if (outcome === 'revoked') await auditKey('key.revoke', actor, key, {});
      },
    }),
  ];

  async function create(actor: Actor, wanted: z.output<typeof newKey>): Promise<CreatedKey> {
    const created = await makeKey(parts, actor, wanted);
    await auditKey('key.create', actor, created.record, { class: created.record.class });
    return created;
  }

  function change(
    actor: Actor,
    key: FoundKey,
    wanted: z.output<typeof keyChange>,
    ifRevision?: number,
  ): Promise<FoundKey> {
    return changeKey(parts, actor, key, { wanted, ifRevision, readAgain: () => find(key.id, 'key.change', actor) });
  }

  /**
   * Returns the usable keys of an owner that have this name.
   * @throws ApiFailure 403 or 404 if the actor may not change these keys
   */
  async function findUsableKeys(
    actor: Actor,
    kind: KeyKind,
    ownerId: string | undefined,
    name: string,
  ): Promise<FoundKey[]> {
    if (kind === 'router') requireAccess('key.make.router', actor);
    else if (ownerId !== undefined) requireAccess('key.make', actor, { kind, id: ownerId });
    const ownerKeys = ownerId === undefined ? await keys.listRouterKeys(name) : await keys.listOfOwner(ownerId);
    const now = Date.now();
    return ownerKeys.filter(
      (key) => key.kind === kind && key.name === name && key.replacedBy === undefined && isUsable(key, now),
    );
  }

  /**
   * Finds a key and checks that the person may do the action on it.
   * @throws ApiFailure 403 or 404
   */
  async function find(id: string, action: Action, actor: Actor): Promise<FoundKey> {
    const key = isKeyId(id) ? await keys.find(id) : undefined;
    if (!key) throw notFound();
    requireAccess(action, actor, ownerOf(key));
    return key;
  }

  async function toAnswer(key: FoundKey, reply: { revision?: number }): Promise<Key> {
    const [answer] = await toKeyAnswers(accounts, [key], recordings.isOn);
    if (!answer) throw notFound();
    reply.revision = key.revision ?? 0;
    return answer;
  }

  async function toCreatedAnswer(
    { rawKey: raw, record: { id } }: CreatedKey,
    reply: { revision?: number } = {},
  ): Promise<{ key: Key; raw: string }> {
    const key = await keys.find(id);
    if (!key) throw notFound();
    return { key: await toAnswer(key, reply), raw };
  }

  function auditKey(action: string, actor: Actor, { id, name, kind, ownerId }: AuditedKey, details: object) {
    const target = { kind: 'key', id, name };
    return writeAudit(parts, actor, {
      action,
      target,
      details: { kind, ownerId, ...details },
      ofTeam: kind === 'team',
    });
  }
}

function removeNulls(input: object): object {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null));
}
