import { z } from 'zod';
import type { InvitationRecord } from '#shared/accounts/people/invitation-store.ts';
import { emailSchema, userRoles } from '#shared/accounts/people/user.ts';
import { resolveRouterAddress } from '#shared/core/router-address.ts';
import { createdInvitationSchema, invitationSchema, type Invitation } from '../../contract/people.ts';
import { requireAccess } from '../access.ts';
import { ApiFailure, notFound } from '../api-failure.ts';
import { writeAudit, type ApiParts } from '../api-parts.ts';
import { listOperation, operation, type Operation } from '../operations/operation.ts';
import { byCreation, cutPage, formatTimedCursor, type Order } from '../operations/page.ts';
import { emailTaken } from './change-profile.ts';
import { requireLocalAccounts } from '../session/signed-in.ts';

const dayMs = 24 * 3_600_000;

const byExpiry: Order<InvitationRecord> = {
  cursorOf: ({ expiresAt, id }) => formatTimedCursor(expiresAt, id),
  form: byCreation.form,
};

const newInvitation = z.strictObject({
  email: emailSchema,
  role: z.enum(userRoles).default('member').describe('The role in the router'),
  teamId: z.string().optional(),
});

export function invitationOperations(parts: ApiParts): Operation[] {
  const { invitations, settings, users } = parts.accounts;
  return [
    listOperation({
      path: '/invitations',
      id: 'listInvitations',
      subject: 'invitations',
      summary: 'Lists the open invitations. The next to expire comes first.',
      scopes: ['read'],
      command: 'invitations list',
      form: { none: 'There are no open invitations.' },
      item: invitationSchema,
      handle: async ({ actor }, page) => {
        requireAccess('invitation.manage', actor);
        const { data, next } = cutPage(await invitations.list(), page, byExpiry);
        return { data: data.map(toInvitationAnswer), next };
      },
    }),
    operation({
      method: 'post',
      path: '/invitations',
      id: 'createInvitation',
      subject: 'invitations',
      summary: 'Invites somebody. The response contains the link to send to them.',
      scopes: [],
      command: 'invitations create',
      form: {
        arguments: ['email'],
        done: '{invitation.email} is invited until {invitation.expiresAt} with this link, shown only this once: {link}',
      },
      body: newInvitation,
      answer: createdInvitationSchema,
      statuses: [201],
      handle: async ({ actor, body, request }) => {
        requireAccess('invitation.manage', actor);
        requireLocalAccounts(parts);
        const address = resolveRouterAddress(request, parts.publicUrl);
        const { invitationDays } = await settings.read();
        const created = await invitations.create({ ...body, invitedBy: actor.id, usableMs: invitationDays * dayMs });
        if (created === 'email taken') throw emailTaken(await users.findByEmail(body.email));
        if (typeof created === 'string') throw invitationFailure(created);
        const { id, email } = created.invitation;
        const target = { kind: 'invitation', id, name: email };
        const details = { role: body.role, teamId: body.teamId };
        await writeAudit(parts, actor, { action: 'invitation.create', target, details });
        const link = new URL(`/link/${created.token}`, address).href;
        return { invitation: toInvitationAnswer(created.invitation), link };
      },
    }),
    operation({
      method: 'delete',
      path: '/invitations/{id}',
      id: 'deleteInvitation',
      subject: 'invitations',
      summary: 'Withdraws an invitation.',
      scopes: [],
      command: 'invitations delete',
      form: { done: 'The invitation of {invitation} is withdrawn.' },
      handle: async ({ actor, params: { id } }) => {
        requireAccess('invitation.manage', actor);
        const invitation = await invitations.find(id);
        if (!invitation) throw notFound();
        await invitations.delete(invitation);
        const target = { kind: 'invitation', id: invitation.id, name: invitation.email };
        await writeAudit(parts, actor, { action: 'invitation.delete', target, details: {} });
      },
    }),
  ];
}

function toInvitationAnswer({ id, email, role, teamId, createdAt, expiresAt }: InvitationRecord): Invitation {
  return { id, email, role, createdAt, expiresAt, ...(teamId === undefined ? {} : { teamId }) };
}

function invitationFailure(outcome: 'no team' | 'too many'): ApiFailure {
  switch (outcome) {
    case 'no team':
      return new ApiFailure(400, 'invalid_request', 'This team does not exist.', { field: 'teamId' });
    case 'too many':
      return new ApiFailure(409, 'too_many_invitations', 'There are 500 open invitations already.');
  }
}
