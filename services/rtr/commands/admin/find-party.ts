import { isKeyId, parseKey } from '#shared/accounts/keys/parse-key.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { BoxInvitation } from '../../../console/contract/box-invitations.ts';
import type { Invitation, Team, User } from '../../../console/contract/people.ts';
import type { Reference } from '../../../console/contract/operation.ts';
import { CallError } from '../client/call-error.ts';
import { buildPath, type AdminClient } from './admin-client.ts';

/** How texts on the command line name what they refer to. */
export const referenceForms: Readonly<Record<Reference, string>> = {
  person: 'a person, by email address or id',
  receiver: 'a person, by email address or id',
  member: 'a person, by email address or id',
  team: 'a team, by name or id',
  key: 'a key, by id or the key itself',
  party: 'user:<address>, team:<name> or key:<id>',
  'party id': 'user:<address>, team:<name>, key:<id>, or another id',
  invitation: 'an invitation, by email address or id',
  'box invitation': 'an invitation of a machine, by id, or by the name of the machine',
  file: 'id of a file',
};

/** What a text refers to. */
export interface Found {
  /** The id, in the notation of the field. */
  id: string;
  /** The address, the name or, without one, the text. */
  name: string;
}

/**
 * Finds what a text on the command line refers to.
 * @param path of the operation, up to the parameter that is sought
 * @throws RouterError `invalid_request`, `not_found`
 * @throws CallError
 */
export async function findReference(client: AdminClient, kind: Reference, text: string, path: string): Promise<Found> {
  switch (kind) {
    case 'person':
    case 'receiver':
      return findPerson(client, text, kind === 'receiver');
    case 'team':
      return findTeam(client, text);
    case 'member':
      return findMember(await client.get<Team>(path.slice(0, path.indexOf('/members/'))), text);
    case 'key':
      return { id: readKeyId(text), name: readKeyId(text) };
    case 'party':
      return findParty(client, text);
    case 'party id':
      return /^(?:user|team|key):/.test(text) ? findPartyId(client, text) : { id: text, name: text };
    case 'invitation':
      return findInvitation(client, text);
    case 'box invitation':
      return findBoxInvitation(client, text);
    case 'file':
      // The APIs of the client formats put a prefix before an id.
      return { id: text.replace(/^file[-_]/, ''), name: text };
  }
}

/**
 * Finds the party that a text such as `user:<address>`, `team:<name>` or `key:<id>` names. Its id has this form, too.
 * @param isReceiver whether the party will receive something, such as a limit
 * @throws RouterError `invalid_request` for a text of another form
 */
export async function findParty(
  client: AdminClient,
  text: string,
  isReceiver = false,
): Promise<Found & { path: string }> {
  const [, kind, party = ''] = /^(user|team|key):(.+)$/.exec(text) ?? [];
  if (kind === undefined) {
    const message = `${text} is none of user:<address>, team:<name> and key:<id>.`;
    throw new RouterError('invalid_request', message);
  }
  const found =
    kind === 'user'
      ? await findPerson(client, party, isReceiver)
      : kind === 'team'
        ? await findTeam(client, party)
        : { id: party, name: party };
  const name = kind === 'user' ? found.name : `${kind} ${found.name}`;
  return { id: `${kind}:${found.id}`, name, path: `/${kind}s/${buildPath`${found.id}`}` };
}

async function findPartyId(client: AdminClient, text: string): Promise<Found> {
  const { id, name } = await findParty(client, text);
  return { id: id.slice(id.indexOf(':') + 1), name };
}

/** Finds the person with an address. A text without `@` is an id. */
async function findPerson(client: AdminClient, text: string, isReceiver: boolean): Promise<Found> {
  if (!text.includes('@')) return { id: text, name: text };
  for await (const person of client.list<User>('/users', { email: text })) {
    if (isReceiver && !person.emailConfirmed)
      throw new RouterError('invalid_request', `${formatUnconfirmed(person)} Or name them by this id.`);
    return { id: person.id, name: person.email };
  }
  throw new RouterError('not_found', `Nobody has an account with the address ${text}.`);
}

/** Returns the error message for a person with an unconfirmed address. */
export function formatUnconfirmed({ id, email }: Pick<User, 'id' | 'email'>): string {
  return `The person with the address ${email} has typed it in, and nobody has confirmed that it is theirs. Make sure who it is, then confirm it: rtr users rename ${id} --email ${email}.`;
}

/** Finds the team with a name or an id. Several teams may have a name. */
async function findTeam(client: AdminClient, text: string): Promise<Found> {
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

function findMember({ name, members }: Team, user: string): Found {
  const member = members.find(({ id, email }) => id === user || email === user.toLowerCase());
  if (member) return { id: member.id, name: member.email };
  throw new RouterError('not_found', `${user} is not in team ${name}.`);
}

/** Returns the id of a key that is given by its id or in whole. */
function readKeyId(text: string): string {
  const id = parseKey(text)?.id ?? text;
  if (isKeyId(id)) return id;
  // The message does not repeat the text, which may be a mistyped secret.
  throw new RouterError('invalid_request', 'This is neither a key nor the id of a key.');
}

async function findInvitation(client: AdminClient, text: string): Promise<Found> {
  for await (const { id, email } of client.list<Invitation>('/invitations'))
    if (id === text || email === text.toLowerCase()) return { id, name: email };
  throw new RouterError('not_found', `There is no open invitation ${text}.`);
}

/** Finds the invitation with an id or, if there is only one, for a name. */
async function findBoxInvitation(client: AdminClient, text: string): Promise<Found> {
  const invitations = await client.listAll<BoxInvitation>('/box-invitations');
  const found = invitations.filter(({ id, name, box }) => [id, name, box].includes(text));
  const [invitation] = found;
  if (!invitation) throw new RouterError('not_found', `There is no open invitation ${text}.`);
  if (found.length === 1) return { id: invitation.id, name: text };
  const ids = found.map(({ id }) => id).join(', ');
  throw new RouterError('invalid_request', `Several invitations are for ${text}. Use the id of one of them: ${ids}.`);
}
