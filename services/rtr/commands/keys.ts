import { createKey, type CreatedKey } from '#shared/accounts/keys/create-key.ts';
import { isUsable, keyNameSchema, maskedKey, type FoundKey, type KeyRecord } from '#shared/accounts/keys/key-record.ts';
import type { Revocation } from '#shared/accounts/keys/key-store.ts';
import type { AuditNote } from '#shared/accounts/people/audit-trail.ts';
import { isKeyId, parseKey } from '#shared/accounts/keys/parse-key.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { PriorityClass } from '#shared/core/priority-class.ts';
import { announceChange, type KeyCommandContext } from './key-command.ts';
import { dateOf } from './date-of.ts';

/**
 * `rtr keys create --name <name> [--class high|normal|low]`: makes a router key and prints it, once.
 * @throws RouterError `invalid_request` for a name that cannot be used
 */
export async function createRouterKey(
  context: KeyCommandContext,
  wish: { name: string; class: PriorityClass },
): Promise<CreatedKey> {
  const { accounts } = context;
  const name = keyNameSchema.safeParse(wish.name);
  if (!name.success) {
    const reasons = name.error.issues.map(({ message }) => message).join(', ');
    throw new RouterError('invalid_request', `This name cannot be used: ${reasons}.`, { param: 'name' });
  }
  const created = await createKey(accounts.keys, { kind: 'router', name: name.data, class: wish.class });
  await accounts.audit.add(auditNote('key.create', created.record, { kind: 'router', class: wish.class }));
  const warning = await announceChange(context, created.record.id);
  if (context.json) {
    context.print(JSON.stringify({ key: created.raw, ...shown(created.record), warning }));
  } else {
    context.print(`Key "${name.data}", shown only this once: ${created.raw}`);
    if (warning !== undefined) context.print(warning);
  }
  return created;
}

/** `rtr keys list`: every key, revoked ones included, oldest first; with `json` one object a line. */
export async function listKeys({ accounts, print, json }: KeyCommandContext): Promise<FoundKey[]> {
  const records = await accounts.keys.list();
  if (json) {
    for (const record of records) print(JSON.stringify(shown(record)));
  } else if (records.length === 0) {
    print('There are no keys yet. Make one with: rtr keys create --name <name>');
  } else {
    for (const line of table(records)) print(line);
  }
  return records;
}

/**
 * `rtr keys revoke <id or raw key>`: from now on every ingress refuses the key. Revoking it again changes nothing.
 * @throws RouterError `not_found` when there is no such key, `invalid_request` for what cannot be a key
 */
export async function revokeKey(context: KeyCommandContext, idOrRawKey: string): Promise<Revocation> {
  const { accounts, print, json } = context;
  const id = parseKey(idOrRawKey)?.id ?? idOrRawKey;
  // The text is not repeated in the sentence: it may be a secret with a typo.
  if (!isKeyId(id)) throw new RouterError('invalid_request', 'This is neither the id of a key nor a key.');
  const outcome = await accounts.keys.revoke(id, Date.now());
  if (outcome === 'revoked') await accounts.audit.add(auditNote('key.revoke', await accounts.keys.find(id), {}));
  if (outcome === 'unknown') throw new RouterError('not_found', `There is no key with the id ${id}.`);
  // Announced in any case: whoever revokes a key twice may do so because the first announcement was lost.
  const warning = await announceChange(context, id);
  if (json) {
    print(JSON.stringify({ id, outcome, warning }));
  } else {
    print(outcome === 'revoked' ? `Key ${id} is revoked.` : `Key ${id} was revoked before.`);
    if (warning !== undefined) print(warning);
  }
  return outcome;
}

function shown(record: KeyRecord): Record<string, string | null> {
  const { id, kind, name, class: priority, createdAt, revokedAt } = record;
  return {
    id,
    kind,
    name,
    class: priority,
    masked: maskedKey(record),
    createdAt: new Date(createdAt).toISOString(),
    revokedAt: revokedAt === undefined ? null : new Date(revokedAt).toISOString(),
  };
}

function stateOf(key: FoundKey): string {
  if (key.revokedAt !== undefined) return 'revoked';
  return isUsable(key, Date.now()) ? 'usable' : 'unusable';
}

/** What the audit trail is told of a change that was made at the command line. */
function auditNote(action: string, key: KeyRecord | undefined, details: Record<string, unknown>): AuditNote {
  return { actor: null, action, target: key ? { kind: 'key', id: key.id, name: key.name } : null, details };
}

function table(records: FoundKey[]): string[] {
  const rows = [
    ['ID', 'KEY', 'CLASS', 'CREATED', 'STATE', 'NAME'],
    ...records.map((record) => [
      record.id,
      maskedKey(record),
      record.class,
      dateOf(record.createdAt),
      stateOf(record),
      record.name,
    ]),
  ];
  const widths = rows.reduce<number[]>(
    (widest, row) => row.map((cell, i) => Math.max(cell.length, widest[i] ?? 0)),
    [],
  );
  return rows.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
