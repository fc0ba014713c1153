import { z } from 'zod';
import { isJsonObject } from '#shared/core/json.ts';
import { RouterError } from '#shared/core/errors.ts';
import { computeNamedPeriod } from '#shared/accounts/periods.ts';
import type { CommandForm, OperationDescription, Reference } from '../../../../console/contract/operation.ts';
import { toPathSegment } from '../../path-segment.ts';
import type { AdminClient, Query } from '../admin-client.ts';
import { findReference } from '../find-party.ts';
import { completeField, removalWord } from './operation-options.ts';
import type { InputField } from './input-field.ts';

/** The request of a command, and what its sentence may name. */
export interface OperationInput {
  path: string;
  query: Query;
  body: Record<string, unknown> | undefined;
  ifMatch: string | undefined;
  /** The names of the people, teams and others that arguments refer to, by argument. */
  names: Record<string, string>;
}

/** A parameter of the path, and the argument that gives it. */
export interface PathParameter {
  name: string;
  label: string;
  reference: Reference | undefined;
}

const pathReferences: Readonly<Record<string, Reference>> = {
  user: 'person',
  team: 'team',
  key: 'key',
  invitation: 'invitation',
  file: 'file',
};

const fieldReferences: Readonly<Record<string, Reference>> = {
  userId: 'receiver',
  teamId: 'team',
  user: 'person',
  team: 'team',
  owner: 'party',
};

/** Returns what the texts of a field of the query or the body refer to. */
export function findFieldReference({ references }: CommandForm, name: string): Reference | undefined {
  return references?.[name] ?? fieldReferences[name];
}

/** Returns the parameters of a path. The parameter `id` is called after what precedes it: `team` in `/teams/{id}`. */
export function listPathParameters(path: string, { references = {} }: CommandForm): PathParameter[] {
  return [...path.matchAll(/([\w-]+)\/\{\+?(\w+)\}/g)].map(([, before = '', name = '']) => {
    const label =
      name === 'id'
        ? (before
            .replace(/(?<=ch)es$|s$/, '')
            .split('-')
            .at(-1) ?? before)
        : name;
    return { name, label, reference: references[name] ?? pathReferences[label] };
  });
}

/**
 * Builds the request of an operation: finds what texts refer to, and completes objects of which a change names only some fields.
 * @param values by field
 * @throws RouterError `invalid_request`, `not_found`
 * @throws CallError
 */
export async function buildInput(
  client: AdminClient,
  operation: OperationDescription,
  parameters: readonly (PathParameter & { text: string })[],
  values: ReadonlyMap<InputField, unknown>,
): Promise<OperationInput> {
  const { form } = operation;
  const names: Record<string, string> = {};
  const given: Record<string, unknown> = {};
  for (const [field, value] of values) setIn(given, field.path, completeField(field, value), field.isNullable);
  const onlyBlocks = Object.keys(given).join() === 'blocked' && given['blocked'] === true;
  let path = operation.path;
  for (const { name, label, reference, text } of parameters) {
    toPathSegment(text);
    // Nobody gains anything by being blocked.
    const wanted = reference === 'receiver' && onlyBlocks ? 'person' : reference;
    const found = wanted ? await findReference(client, wanted, text, path) : { id: text, name: text };
    names[label] = found.name;
    path = path.replace(new RegExp(`\\{\\+?${name}\\}`), toPathSegment(found.id));
  }
  for (const [name, value] of Object.entries(given)) {
    const reference = findFieldReference(form, name);
    if (reference === undefined || typeof value !== 'string') continue;
    given[name] = (await findReference(client, reference, value, path)).id;
  }
  if (operation.body === undefined)
    return { path, query: toQuery(operation, given), body: undefined, ifMatch: undefined, names };
  if (operation.method === 'patch' && Object.keys(given).length === 0)
    throw new RouterError('invalid_request', 'Name what to change with an option: --help lists them.');
  const nested = Object.keys(given).filter((name) => isJsonObject(given[name]));
  const isPartial = operation.method === 'patch' && nested.length > 0;
  const { value: current, etag } = isPartial
    ? await client.send<Record<string, unknown>>('GET', path)
    : { value: {} as Record<string, unknown>, etag: undefined };
  for (const name of nested) given[name] = merge(current[name], given[name]);
  if (operation.method === 'post' && operation.body instanceof z.ZodObject && operation.body.shape['kind'])
    given['kind'] ??= findOwnerKind(given);
  return { path, query: {}, body: given, ifMatch: operation.etags.takes ? etag : undefined, names };
}

/** Returns the kind of what belongs to an owner, which a router of an earlier release requires; undefined for two owners. */
function findOwnerKind({ teamId, userId }: Readonly<Record<string, unknown>>): string | undefined {
  if (teamId !== undefined) return userId === undefined ? 'team' : undefined;
  return userId === undefined ? 'router' : 'user';
}

/** Sets a value in the object that a path leads to. `none` becomes null; where null is not known, it is left out. */
function setIn(object: Record<string, unknown>, path: readonly string[], value: unknown, isNullable: boolean): void {
  const [name = '', ...rest] = path;
  if (rest.length > 0) setIn((object[name] ??= {}) as Record<string, unknown>, rest, value, isNullable);
  else if (value !== removalWord) object[name] = value;
  else if (isNullable) object[name] = null;
}

/** Returns the current object with the given fields. Null removes a field. */
function merge(current: unknown, given: unknown): unknown {
  if (!isJsonObject(given)) return given;
  const known = isJsonObject(current) ? current : {};
  const merged = Object.entries(given).map(([name, value]) => [name, merge(known[name], value)] as const);
  return Object.fromEntries(
    Object.entries({ ...known, ...Object.fromEntries(merged) }).filter(([, value]) => value !== null),
  );
}

function toQuery({ query, form }: OperationDescription, given: Readonly<Record<string, unknown>>): Query {
  const isPeriod =
    query !== undefined && ['from', 'to'].every((name) => query.shape[name]?.safeParse(undefined).success === false);
  const { to = Date.now() } = given;
  const period = isPeriod && { from: computeNamedPeriod(form.period ?? '30d', Number(to) - 1).from, to };
  const fields = Object.entries({ ...period, ...given });
  return Object.fromEntries(
    fields.map(([name, value]) => [name, typeof value === 'boolean' ? String(value) : value]),
  ) as Query;
}
