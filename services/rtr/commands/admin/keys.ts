import { isKeyId, parseKey } from '#shared/accounts/keys/parse-key.ts';
import { RouterError } from '#shared/core/errors.ts';
import { buildPath } from './admin-client.ts';
import type { Key } from './admin-answers.ts';
import type { AdminContext } from './admin-context.ts';
import { findParty, findReceiver, findTeam } from './find-party.ts';
import { readKeyChange, type KeySettings, type NewKeyOptions } from './key-settings.ts';
import type { RecordsOption } from './party-settings.ts';
import {
  formatDay,
  formatMinute,
  formatOwner,
  printDone,
  printFacts,
  printList,
  formatRecording,
  formatValues,
} from './print-answers.ts';

const hourMs = 3_600_000;

interface CreatedKey {
  key: Key;
  raw: string;
}

/** `rtr keys create`: creates a key and prints it. The key cannot be shown again. */
export async function createApiKey(
  context: AdminContext,
  { name, user, team, own, ...options }: NewKeyOptions,
): Promise<void> {
  const { client } = context;
  const settings = Object.entries(readKeyChange({ limits: {} }, options)).filter(([, value]) => value !== null);
  const owner =
    user !== undefined
      ? { kind: 'user', userId: (await findReceiver(client, user)).id }
      : team !== undefined
        ? { kind: 'team', teamId: (await findTeam(client, team)).id }
        : { kind: own ? 'user' : 'router' };
  const body = { ...owner, name, ...Object.fromEntries(settings) };
  const { value } = await client.send<CreatedKey>('POST', '/keys', { body });
  const { key } = value;
  const ofOwner = key.owner ? ` of ${formatOwner(key.kind, key.owner.name)}` : '';
  printCreated(context, value, `Key "${key.name}"${ofOwner}`);
}

export async function listApiKeys(context: AdminContext, owner: string | undefined): Promise<void> {
  const { client } = context;
  const ownerId = owner === undefined ? undefined : (await findParty(client, owner)).value.id;
  await printList(context, client.list<Key>('/keys', { owner: ownerId }), {
    head: ['ID', 'KEY', 'OWNER', 'CLASS', 'CREATED', 'STATE', 'RECORDED', 'NAME'],
    row: (key) => {
      const { id, masked, createdAt, name, classInForce: priority = key.class, recording } = key;
      const isRecorded = recording === undefined ? 'no' : 'yes';
      return [
        id,
        masked,
        formatOwner(key.kind, key.owner?.name),
        priority,
        formatDay(createdAt),
        findState(key),
        isRecorded,
        name,
      ];
    },
    none: 'There are no keys yet. Make one with: rtr keys create --name <name>',
    toJson: toKeyJson,
  });
}

export async function showApiKey(context: AdminContext, id: string): Promise<void> {
  printKey(context, await context.client.get<Key>(buildPath`/keys/${id}`));
}

export async function setApiKey(
  context: AdminContext,
  id: string,
  { name, ...options }: KeySettings & RecordsOption & { name?: string },
): Promise<void> {
  const { client } = context;
  const { value: current, etag } = await client.send<Key>('GET', buildPath`/keys/${id}`);
  const body = { ...(name !== undefined && { name }), ...readKeyChange(current, options) };
  printKey(context, (await client.send<Key>('PATCH', buildPath`/keys/${id}`, { body, ifMatch: etag })).value);
}

/** `rtr keys rotate`: creates the successor of a key and prints it. The successor cannot be shown again. */
export async function rotateApiKey(context: AdminContext, id: string, hours: number): Promise<void> {
  const path = buildPath`/keys/${id}/rotate`;
  const { value } = await context.client.send<CreatedKey>('POST', path, { body: { overlapMs: hours * hourMs } });
  printCreated(context, value, `The successor of key ${id} is ${value.key.id}`);
}

/** `rtr keys revoke`: revokes a key. */
export async function revokeApiKey(context: AdminContext, idOrRawKey: string): Promise<void> {
  const id = parseKey(idOrRawKey)?.id ?? idOrRawKey;
  // The message does not repeat the text, which may be a mistyped secret.
  if (!isKeyId(id)) throw new RouterError('invalid_request', 'This is neither a key nor the id of a key.');
  await context.client.send('DELETE', buildPath`/keys/${id}`);
  printDone(context, { id, outcome: 'revoked' }, `Key ${id} is revoked.`);
}

function printCreated(context: AdminContext, { key, raw: secret }: CreatedKey, what: string): void {
  printDone(context, { key: secret, ...toKeyJson(key) }, `${what}, shown only this once: ${secret}`);
}

function printKey(context: AdminContext, key: Key): void {
  const {
    id,
    name,
    kind,
    class: priority,
    masked,
    limits,
    weight,
    models,
    tiers,
    tools,
    createdAt,
    createdBy,
    issued,
  } = key;
  const times = [key.expiresAt, key.lastUsedAt].map((time) => (time === undefined ? undefined : formatMinute(time)));
  printFacts(context, toKeyJson(key), {
    name,
    id,
    key: masked,
    kind,
    owner: key.owner && formatOwner(key.kind, key.owner.name),
    issued: issued && `by an administrator; its files and batches belong to ${issued.storesAs}`,
    state: findState(key),
    class: key.classInForce === undefined ? priority : `${priority}, in force: ${key.classInForce}`,
    weight,
    models: models?.join(', '),
    tiers: tiers?.join(', '),
    tools: tools?.join(', '),
    limits: formatValues(limits),
    recorded: formatRecording(key.recording),
    created: `${formatMinute(createdAt)}${createdBy === undefined ? '' : ` by ${createdBy}`}`,
    expires: times[0],
    'last used': times[1],
  });
}

/** Returns a key as `--json` prints it. The formats of times are the same in commands that work without a router. */
function toKeyJson({ createdAt, revokedAt, expiresAt, lastUsedAt, ...key }: Key): object {
  const formatTime = (time: number | undefined) => (time === undefined ? null : new Date(time).toISOString());
  const times = { createdAt, revokedAt, expiresAt, lastUsedAt };
  return { ...key, ...Object.fromEntries(Object.entries(times).map(([name, time]) => [name, formatTime(time)])) };
}

function findState({ revokedAt, expiresAt = Infinity, replacedBy }: Key): string {
  if (revokedAt !== undefined) return 'revoked';
  if (expiresAt <= Date.now()) return 'expired';
  return replacedBy === undefined ? 'usable' : 'replaced';
}
