import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { limitsSchema, weightSchema } from '#shared/accounts/limits/limits.ts';
import { ceilingSchema } from '#shared/accounts/people/ceiling.ts';
import { displayNameSchema, emailSchema, userRoles, type UserRecord } from '#shared/accounts/people/user.ts';
import { resolveRouterAddress } from '#shared/core/router-address.ts';
import { userSchema, type User } from '../../contract/people.ts';
import { requireAccess } from '../access.ts';
import type { Actor } from '../actor.ts';
import { ApiFailure, notFound, stale } from '../api-failure.ts';
import { announceChange, type ApiParts } from '../api-parts.ts';
import { listOperation, operation, type Operation } from '../operations/operation.ts';
import { byCreation, cutPage } from '../operations/page.ts';
import { requireLocalAccounts } from '../session/signed-in.ts';
import { emailTaken, requireConfirmedEmail } from './change-profile.ts';
import { auditUserChanges } from './audit-user-changes.ts';
import { requireRevision } from '../operations/if-match.ts';
import { lastAdminFailure } from './delete-person.ts';
import { auditPerson, findPerson } from './find-party.ts';
import { toUserAnswer } from './people-answers.ts';

const changeFields = {
  role: z.enum(userRoles).optional().describe('The role in the router'),
  blocked: z.boolean().optional().describe('Whether the person and their keys are refused'),
  limits: limitsSchema.optional().describe('The limits of all requests of the person'),
  weight: weightSchema.optional(),
  ceiling: ceilingSchema.optional(),
};
const change = z.strictObject(changeFields);
const newUser = z.strictObject({
  email: emailSchema,
  name: displayNameSchema.optional().describe('The name; absent: the part of the address before the @'),
  role: z.enum(userRoles).optional().describe('The role in the router; absent: `member`'),
  limits: limitsSchema
    .optional()
    .describe('The limits of all requests of the person; absent: those that the settings give to new members'),
  weight: weightSchema.optional(),
  ceiling: ceilingSchema.optional().describe('Absent: the ceiling that the settings give to new members.'),
});
const upsert = z.strictObject({ name: displayNameSchema.optional(), ...changeFields });
const signInLink = z
  .object({ link: z.string().describe('Lets the person set a password, once, within 24 hours.') })
  .meta({ id: 'SignInLink' });

export function userOperations(parts: ApiParts): Operation[] {
  const { accounts, externals } = parts;
  const { users, settings, links } = accounts;
  const personRoute = { path: '/users/{id}', subject: 'people' } as const;

  return [
    listOperation({
      path: '/users',
      id: 'listPeople',
      subject: 'people',
      summary: 'Lists everybody who has an account, oldest first.',
      scopes: ['read', 'keys'],
      command: 'users list',
      form: {
        columns: ['id', 'email', 'role', 'blocked', 'createdAt', 'lastSeenAt', 'name'],
        none: 'Nobody has an account yet. Make one with: rtr users create <address>',
      },
      query: z.object({ email: emailSchema.optional().describe('Lists only the person with this address.') }),
      item: userSchema,
      handle: async ({ actor, query: { email } }, page) => {
        requireAccess('user.manage', actor);
        if (email === undefined) {
          const { data, next } = cutPage(await users.list(), page, byCreation);
          return { data: await toAnswers(data), next };
        }
        const user = await users.findByEmail(email);
        return { data: await toAnswers(user ? [user] : []), next: undefined };
      },
    }),
    operation({
      ...personRoute,
      method: 'get',
      id: 'getPerson',
      summary: 'Returns a person.',
      scopes: ['read', 'keys'],
      command: 'users show',
      answer: userSchema,
      etags: { answers: true },
      handle: async ({ actor, params: { id }, reply }) => {
        return toAnswer(await findPerson(parts, actor, id), reply);
      },
    }),
    operation({
      method: 'post',
      path: '/users',
      id: 'createPerson',
      subject: 'people',
      summary:
        'Makes an account for somebody who signs in later: with a link for a password, or at a provider with this address.',
      scopes: [],
      command: 'users create',
      form: {
        arguments: ['email'],
        done: '{email} has an account as {role}. Let them sign in at your provider, or with a link from: rtr users password-link {email}',
        example: 'users create bob@example.com --name Bob',
      },
      body: newUser,
      answer: userSchema,
      statuses: [201],
      etags: { answers: true },
      handle: async ({ actor, body, reply }) => {
        requireAccess('user.manage', actor);
        return toAnswer(await create(actor, body), reply);
      },
    }),
    operation({
      method: 'put',
      path: '/users-by-email/{email}',
      id: 'upsertPerson',
      subject: 'people',
      summary:
        'Changes the person with this address, or makes an account. Absent settings stay as they are. A person whose address is not confirmed (see `emailConfirmed`) cannot be given more rights or another name (409 `unconfirmed_address`).',
      scopes: [],
      command: 'apply',
      body: upsert,
      answer: userSchema,
      statuses: [200, 201],
      etags: { answers: true, takes: true },
      handle: async ({ actor, params, body, ifRevision, request, reply }) => {
        requireAccess('user.manage', actor);
        const email = parseEmail(params.email);
        return accounts.nameLock.runLocked(`user:${email}`, async () => {
          const user = await users.findByEmail(email);
          requireRevision(user, { request, ifRevision });
          if (user) {
            const isRenamed = body.name !== undefined && body.name !== user.name;
            if (isRenamed || givesMoreRights(user, body)) requireConfirmedEmail(user);
            return toAnswer(await changePerson(actor, user.id, body, ifRevision), reply);
          }
          const { blocked, ...others } = body;
          const created = await create(actor, { email, ...others });
          reply.status = 201;
          return toAnswer(blocked === true ? await changePerson(actor, created.id, { blocked }) : created, reply);
        });
      },
    }),
    operation({
      ...personRoute,
      method: 'patch',
      id: 'changePerson',
      summary: 'Changes the role, limits, weight or ceiling of a person, or blocks or unblocks them.',
      scopes: [],
      command: 'users set',
      form: {
        references: { id: 'receiver' },
        example: 'users set bob@example.com --role admin --limit cost-per-day=5',
      },
      body: change,
      answer: userSchema,
      etags: { answers: true, takes: true },
      handle: async ({ actor, params: { id }, body, ifRevision, reply }) => {
        requireAccess('user.manage', actor);
        return toAnswer(await changePerson(actor, id, body, ifRevision), reply);
      },
    }),
    operation({
      method: 'post',
      path: '/users/{id}/sign-out',
      id: 'signPersonOut',
      subject: 'people',
      summary: 'Ends all sessions, programs and admin tokens of a person.',
      scopes: [],
      command: 'users sign-out',
      form: { done: 'All sessions and programs of {user} are ended.' },
      handle: async ({ actor, params: { id } }) => {
        const user = await findPerson(parts, actor, id);
        await announceChange(parts, `user:${user.id}`, () => users.signOut(user.id));
        await auditPerson(parts, actor, user, 'user.sign-out');
      },
    }),
    operation({
      method: 'post',
      path: '/users/{id}/password-link',
      id: 'createPasswordLink',
      subject: 'people',
      summary:
        'Makes a link with which a person who has never used their account sets a password. The first use of the account makes the link void.',
      scopes: [],
      command: 'users password-link',
      form: { done: 'Open this link within 24 hours to set a password for {user}: {link}' },
      answer: signInLink,
      statuses: [201],
      handle: async ({ actor, params: { id }, request }) => {
        requireAccess('user.manage', actor);
        requireLocalAccounts(parts);
        const address = resolveRouterAddress(request, parts.publicUrl);
        const user = await findPerson(parts, actor, id);
        if (user.blockedAt !== undefined) throw new ApiFailure(409, 'blocked', 'This person is blocked.');
        // Whoever has such a link can sign in as the person and read the person's files. Administrators may not read these files, so links
        // are for accounts that nobody has used.
        const token = await links.issueFirstPassword(user);
        if (token === undefined) {
          const message =
            'This person has used their account before. For a lost password, make a link with `rtr admin link --email`.';
          throw new ApiFailure(409, 'has_signed_in', message);
        }
        await auditPerson(parts, actor, user, 'user.password-link');
        return { link: new URL(`/link/${token}`, address).href };
      },
    }),
  ];

  async function toAnswers(people: readonly UserRecord[]): Promise<User[]> {
    const providers = await externals.readProviders(people.map(({ id }) => id));
    return people.map((user) => toUserAnswer(user, providers.get(user.id)));
  }

  async function toAnswer(user: UserRecord, reply: { revision?: number }): Promise<User> {
    reply.revision = user.revision ?? 0;
    const providers = await externals.readProviders([user.id]);
    return toUserAnswer(user, providers.get(user.id));
  }

  async function create(actor: Actor, wanted: z.output<typeof newUser>): Promise<UserRecord> {
    const { email, name = email.slice(0, email.lastIndexOf('@')), role = 'member', weight } = wanted;
    const defaults = await settings.readNewPersonSettings(role);
    const { limits = defaults.limits, ceiling = defaults.ceiling } = wanted;
    const user = await users.create({ email, name, role, limits, weight, ceiling });
    if (user === 'email taken') throw emailTaken(await users.findByEmail(email));
    await auditPerson(parts, actor, user, 'user.create', { email, role });
    return user;
  }

  async function changePerson(
    actor: Actor,
    id: string,
    wanted: z.output<typeof upsert>,
    ifRevision?: number,
  ): Promise<UserRecord> {
    const before = await announceChange(parts, `user:${id}`, () => users.change(id, wanted, Date.now(), ifRevision));
    if (before === 'stale') throw stale();
    if (before === 'unknown') throw notFound();
    if (before === 'last admin') throw lastAdminFailure();
    await auditUserChanges(parts, actor, before, wanted);
    return findPerson(parts, actor, id);
  }
}

/** Returns whether a change may give a person more rights: the role `admin`, the end of a block, or other limits, weight or ceiling. */
function givesMoreRights(
  user: UserRecord,
  { role, blocked, limits, weight, ceiling }: z.output<typeof change>,
): boolean {
  if ((role === 'admin' && user.role !== 'admin') || (blocked === false && user.blockedAt !== undefined)) return true;
  const { limits: hadLimits = {}, weight: hadWeight = 1, ceiling: hadCeiling = {} } = user;
  const wanted = { limits: limits ?? hadLimits, weight: weight ?? hadWeight, ceiling: ceiling ?? hadCeiling };
  return !isDeepStrictEqual(wanted, { limits: hadLimits, weight: hadWeight, ceiling: hadCeiling });
}

function parseEmail(text: string): string {
  const { success, data } = emailSchema.safeParse(text);
  if (!success) throw new ApiFailure(400, 'invalid_request', 'This is no e-mail address.', { field: 'email' });
  return data;
}
