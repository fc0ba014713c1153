import { z } from 'zod';
import { displayNameSchema, emailSchema } from '#shared/accounts/people/user.ts';
import { personsSessionSchema, type ListedSignInSession } from '../../contract/sessions.ts';
import { ApiFailure, notFound } from '../api-failure.ts';
import { announceChange, type ApiParts } from '../api-parts.ts';
import { listOperation, operation, type Operation } from '../operations/operation.ts';
import { cutPage, type Order } from '../operations/page.ts';
import { listSignInSessions } from '../session/list-sign-in-sessions.ts';
import { changeAddress, changeName, confirmAddress } from './change-profile.ts';
import { deletePerson } from './delete-person.ts';
import { auditPerson, findPerson } from './find-party.ts';

/** The order of sign-in sessions by the hash of their token, which does not change while a session is used. */
const byHash: Order<ListedSignInSession> = { cursorOf: ({ id }) => id, form: /^[\w-]{43}$/ };

const profile = z.strictObject({ name: displayNameSchema.optional(), email: emailSchema.optional() });

/**
 * Returns the operations with which administrators manage a person's name, address, sign-in sessions and second factors, unlink the
 * person's account at a provider, and delete the person.
 */
export function personOperations(parts: ApiParts): Operation[] {
  const { accounts, externals, secondFactors } = parts;
  const common = { subject: 'people', scopes: [] } as const;
  return [
    operation({
      ...common,
      method: 'patch',
      path: '/users/{id}/profile',
      id: 'changeProfile',
      summary:
        'Changes the name or the address of a person. A new address ends their sessions. Giving the address that they have marks it as confirmed: see `emailConfirmed`.',
      command: 'users rename',
      form: { done: '{user} is changed.' },
      body: profile,
      handle: async ({ actor, params: { id }, body: { name, email } }) => {
        const user = await findPerson(parts, actor, id);
        // The address is changed first, because it may be refused. A refused request then changes nothing at all.
        if (email === user.email) await confirmAddress(parts, actor, user);
        else if (email !== undefined) await changeAddress(parts, actor, user, email);
        if (name !== undefined) await changeName(parts, actor, user, name);
      },
    }),
    operation({
      ...common,
      method: 'delete',
      path: '/users/{id}',
      id: 'deletePerson',
      summary: 'Deletes a person with everything that they own. Their usage stays in the ledger.',
      command: 'users delete',
      form: { done: '{user} is deleted, with all that was theirs.' },
      handle: async ({ actor, params: { id } }) => deletePerson(parts, actor, await findPerson(parts, actor, id)),
    }),
    operation({
      ...common,
      method: 'delete',
      path: '/users/{id}/second-factor',
      id: 'resetSecondFactor',
      summary: 'Removes the second factors of a person who has lost them.',
      command: 'users reset-second-factor',
      form: { done: '{user} has no second factor any more.' },
      handle: async ({ actor, params: { id } }) => {
        const user = await findPerson(parts, actor, id);
        await secondFactors.reset(user.id);
        await auditPerson(parts, actor, user, 'second-factor.reset');
      },
    }),
    operation({
      ...common,
      method: 'delete',
      path: '/users/{id}/external-account',
      id: 'unlinkPerson',
      summary:
        'Unlinks a person from their account at an identity provider, and ends their sessions, programs and admin tokens. Their next sign-in with the same address, at any provider, links an account again.',
      command: 'users unlink',
      form: {
        done: '{user} is linked to no identity provider any more. All sessions and programs are ended. The next sign-in with this address links it anew.',
      },
      handle: async ({ actor, params: { id } }) => {
        const user = await findPerson(parts, actor, id);
        const provider = await announceChange(parts, `user:${user.id}`, () => externals.unlink(user.id));
        if (provider === undefined)
          throw new ApiFailure(409, 'not_linked', 'This person has no account at an identity provider.');
        await auditPerson(parts, actor, user, 'user.unlink', { provider });
      },
    }),
    listOperation({
      path: '/users/{id}/sessions',
      id: 'listSessions',
      subject: 'people',
      summary: 'Lists the sessions of a person at the console.',
      scopes: ['read'],
      command: 'users sessions',
      form: { none: 'The person is signed in nowhere.' },
      item: personsSessionSchema,
      handle: async ({ actor, params }, page) => {
        const user = await findPerson(parts, actor, params.id);
        return cutPage(await listSignInSessions(accounts.sessions, user), page, byHash);
      },
    }),
    operation({
      ...common,
      method: 'delete',
      path: '/users/{id}/sessions/{session}',
      id: 'endSession',
      summary: 'Ends a session of a person.',
      command: 'users end-session',
      form: { done: 'The session {session} of {user} is ended.' },
      handle: async ({ actor, params: { id, session } }) => {
        const user = await findPerson(parts, actor, id);
        if (!(await accounts.sessions.endByHash(user.id, session))) throw notFound();
        await auditPerson(parts, actor, user, 'session.end');
      },
    }),
  ];
}
