import { createKey, type CreatedKey } from '#shared/accounts/keys/create-key.ts';
import {
  isUsable,
  keyNameSchema,
  keyToolsSchema,
  maskKey,
  findRecordingSwitch,
  type FoundKey,
} from '#shared/accounts/keys/key-record.ts';
import type { Revocation } from '#shared/accounts/keys/key-store.ts';
import type { AuditNote } from '#shared/accounts/people/audit-trail.ts';
import { isKeyId, parseKey } from '#shared/accounts/keys/parse-key.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { PriorityClass } from '#shared/core/priority-class.ts';
import { announceChange, type KeyCommandContext } from './key-command.ts';
import { readWeight } from './admin/key-settings.ts';
import { formatOwner, formatValues } from './admin/print-answers.ts';
import { formatDate } from './format-date.ts';
import { toTableLines } from './table-lines.ts';
import { readCommandLine } from './read-command-line.ts';

/**
 * `rtr keys create --name <name> [--class high|normal|low] [--weight <turns>] [--tools <name...>]`: creates a router key and prints it. The
 * key cannot be shown again.
 * @throws RouterError `invalid_request` for an invalid name, weight or tool
 */
export async function createRouterKey(
  context: KeyCommandContext,
  options: { name: string; class: PriorityClass; weight?: string | undefined; tools?: string[] | undefined },
): Promise<CreatedKey> {
  const { accounts } = context;
  const name = keyNameSchema.safeParse(options.name);
  if (!name.success) {
    const reasons = name.error.issues.map(({ message }) => message).join(', ');
    throw new RouterError('invalid_request', `The name is invalid: ${reasons}.`, { param: 'name' });
  }
  const { class: priority } = options;
  const tools = options.tools && readTools(options.tools);
  const weight = options.weight === undefined ? undefined : readWeight(options.weight);
  const created = await createKey(accounts.keys, { kind: 'router', name: name.data, class: priority, weight, tools });
  const details = { kind: 'router', class: priority, weight, tools };
  await accounts.audit.add(createAuditNote('key.create', created.record, details));
  const warning = await announceChange(context, created.record.id);
  if (context.json) {
    context.print(JSON.stringify({ key: created.rawKey, ...toKeyJson(created.record), warning }));
  } else {
    context.print(`Key "${name.data}", shown only this once: ${created.rawKey}`);
    if (warning !== undefined) context.print(warning);
  }
  return created;
}

/** `rtr keys list`: lists every key, including revoked ones, oldest first; with `json`, one object per line. */
export async function listKeys({ accounts, print, json }: KeyCommandContext): Promise<FoundKey[]> {
  const records = await accounts.keys.list();
  if (json) {
    for (const record of records) print(JSON.stringify(toKeyJson(record)));
  } else if (records.length === 0) {
    print('There are no keys yet. Make one with: rtr keys create --name <name>');
  } else {
    for (const line of toTable(records)) print(line);
  }
  return records;
}

/**
 * `rtr keys revoke <id or raw key>`: revokes a key. Every ingress refuses the key from now on. Revoking a revoked key changes nothing.
 * @throws RouterError `not_found` if there is no such key; `invalid_request` for a text that is neither a key nor an id
 */
export async function revokeKey(context: KeyCommandContext, idOrRawKey: string): Promise<Revocation> {
  const { accounts, print, json } = context;
  const id = parseKey(idOrRawKey)?.id ?? idOrRawKey;
  // The message does not repeat the text, which may be a mistyped secret.
  if (!isKeyId(id)) throw new RouterError('invalid_request', 'This is neither a key nor the id of a key.');
  const outcome = await accounts.keys.revoke(id, Date.now());
  if (outcome === 'revoked') {
    const name = (await accounts.keys.readName(id)) ?? '';
    const owner = (await accounts.keys.readOwners([id])).get(id);
    await accounts.audit.add(createAuditNote('key.revoke', { id, name }, { ...owner }));
  }
  if (outcome === 'unknown') throw new RouterError('not_found', `There is no key with the id ${id}.`);
  // Every ingress is notified even if nothing changed, because the message about the first revocation may have been lost.
  const warning = await announceChange(context, id);
  if (json) {
    print(JSON.stringify({ id, outcome, warning }));
  } else {
    print(outcome === 'revoked' ? `Key ${id} is revoked.` : `Key ${id} was already revoked.`);
    if (warning !== undefined) print(warning);
  }
  return outcome;
}

function readTools(names: readonly string[]): string[] {
  const tools = keyToolsSchema.safeParse(names);
  if (tools.success) return tools.data;
  const message = 'A key has 1 to 100 tools, each with a name of 1 to 200 characters.';
  throw new RouterError('invalid_request', message, { param: 'tools' });
}

function toKeyJson(record: FoundKey): Record<string, unknown> {
  const { id, kind, name, class: priority, createdAt, revokedAt, expiresAt, ownerId, owner, limits = {} } = record;
  return {
    id,
    kind,
    name,
    class: priority,
    masked: maskKey(record),
    ...(ownerId !== undefined && { owner: { id: ownerId, name: owner?.name ?? '' } }),
    limits,
    records: findRecordingSwitch(record) !== undefined,
    expiresAt: expiresAt === undefined ? null : new Date(expiresAt).toISOString(),
    createdAt: new Date(createdAt).toISOString(),
    revokedAt: revokedAt === undefined ? null : new Date(revokedAt).toISOString(),
  };
}

function formatLimits({ limits = {} }: FoundKey): string {
  return formatValues(limits);
}

function findState(key: FoundKey): string {
  if (key.revokedAt !== undefined) return 'revoked';
  return isUsable(key, Date.now()) ? 'usable' : 'unusable';
}

function createAuditNote(
  action: string,
  { id, name }: { id: string; name: string },
  details: Record<string, unknown>,
): AuditNote {
  return { actor: null, action, target: { kind: 'key', id, name }, details, from: readCommandLine() };
}

function toTable(records: FoundKey[]): string[] {
  return toTableLines([
    ['ID', 'KEY', 'OWNER', 'CLASS', 'CREATED', 'EXPIRES', 'LIMITS', 'STATE', 'RECORDS', 'NAME'],
    ...records.map((record) => [
      record.id,
      maskKey(record),
      formatOwner(record.kind, record.owner?.name ?? record.ownerId),
      record.class,
      formatDate(record.createdAt),
      record.expiresAt === undefined ? '-' : formatDate(record.expiresAt),
      formatLimits(record) || '-',
      findState(record),
      findRecordingSwitch(record) ? 'yes' : 'no',
      record.name,
    ]),
  ]);
}
