import { isKeyId } from '#shared/accounts/keys/parse-key.ts';
import { RouterError } from '#shared/core/errors.ts';
import { CallError } from '../client/call-error.ts';
import { buildPath, type AdminClient } from './admin-client.ts';
import type { Key, Person, Team } from './admin-answers.ts';

export const personArgument = ['<user>', 'email address or id of the person'] as const;

/**
 * Finds the person with an e-mail address or an id.
 * @throws RouterError `not_found`
 * @throws CallError
 */
export async function findPerson(client: AdminClient, text: string): Promise<Person> {
  if (!text.includes('@')) return client.get<Person>(buildPath`/users/${text}`);
  for await (const person of client.list<Person>('/users', { email: text })) return person;
  throw new RouterError('not_found', `Nobody has an account with the address ${text}.`);
}

/**
 * Finds a person who will receive something, such as a key or a limit.
 * @throws RouterError `invalid_request` for an address that is not confirmed
 * @throws as `findPerson`
 */
export async function findReceiver(client: AdminClient, text: string): Promise<Person> {
  const person = await findPerson(client, text);
  if (text.includes('@') && !person.emailConfirmed)
    throw new RouterError('invalid_request', `${formatUnconfirmed(person)} Or name them by this id.`);
  return person;
}

/** Returns the error message for a person with an unconfirmed address. */
export function formatUnconfirmed({ id, email }: Person): string {
  return `The person with the address ${email} has typed it in, and nobody has confirmed that it is theirs. Make sure who it is, then confirm it: rtr users rename ${id} --email ${email}.`;
}

/**
 * Finds the team with a name or an id.
 * @throws RouterError `not_found`; `invalid_request` for a name that several teams have
 * @throws CallError
 */
export async function findTeam(client: AdminClient, text: string): Promise<Team> {
  if (isKeyId(text)) {
    const team = await client.get<Team>(buildPath`/teams/${text}`).catch((error: unknown) => {
      if (error instanceof CallError && error.status === 404) return undefined;
      throw error;
    });
    if (team) return team;
  }
  const teams = await client.listAll<Team>('/teams', { name: text });
  const [team] = teams;
  if (!team) throw new RouterError('not_found', `There is no team ${text}.`);
  if (teams.length === 1) return team;
  const ids = teams.map(({ id }) => id).join(', ');
  throw new RouterError('invalid_request', `Several teams are called ${text}. Use the id of one of them: ${ids}.`);
}

export type FoundParty =
  | { kind: 'user'; path: string; name: string; value: Person }
  | { kind: 'team'; path: string; name: string; value: Team }
  | { kind: 'key'; path: string; name: string; value: Key };

/**
 * Finds the party that a text such as `user:<address>`, `team:<name>` or `key:<id>` names.
 * @param isReceiver whether the party will receive something, such as a limit
 * @throws RouterError `invalid_request` for a text of another form
 * @throws as `findPerson`, `findReceiver` and `findTeam`
 */
export async function findParty(client: AdminClient, text: string, isReceiver = false): Promise<FoundParty> {
  const [, kind, name = ''] = /^(user|team|key):(.+)$/.exec(text) ?? [];
  if (kind === 'user') {
    const value = await (isReceiver ? findReceiver : findPerson)(client, name);
    return { kind, path: buildPath`/users/${value.id}`, name: value.email, value };
  }
  if (kind === 'team') {
    const value = await findTeam(client, name);
    return { kind, path: buildPath`/teams/${value.id}`, name: `team ${value.name}`, value };
  }
  if (kind === 'key') {
    const value = await client.get<Key>(buildPath`/keys/${name}`);
    return { kind, path: buildPath`/keys/${value.id}`, name: `key ${value.name}`, value };
  }
  const message = `${text} is none of user:<address>, team:<name> and key:<id>.`;
  throw new RouterError('invalid_request', message);
}
