import { Router } from 'express';
import { z } from 'zod';
import type { InvitationRecord } from '#shared/accounts/people/invitation-store.ts';
import { emailSchema, userRoles } from '#shared/accounts/people/user.ts';
import { routerAddress } from '#shared/core/router-address.ts';
import type { Invitation } from '../../contract/account.ts';
import { requireAccess } from '../access.ts';
import { ApiFailure, notFound } from '../api-failure.ts';
import { record, type ApiParts } from '../api-parts.ts';
import { parse } from '../parse.ts';
import { requireLocalAccounts } from '../session/require-local-accounts.ts';
import { signedInOf } from '../session/signed-in.ts';

const dayMs = 24 * 3_600_000;

const newInvitation = z.strictObject({ email: emailSchema, role: z.enum(userRoles), teamId: z.string().optional() });

/** Open invitations, for administrators. */
export function invitationRoutes(parts: ApiParts): Router {
  const { invitations, settings } = parts.accounts;
  const routes = Router();
  routes.use('/invitations', (_, response, next) => {
    requireAccess('invitation.manage', signedInOf(response));
    next();
  });
  routes.get('/invitations', async (_, response) => {
    response.json((await invitations.list()).map(invitationAnswer));
  });
  routes.post('/invitations', async (request, response) => {
    requireLocalAccounts(parts);
    const wanted = parse(newInvitation, request.body);
    const { invitationDays } = await settings.read();
    const person = signedInOf(response);
    const created = await invitations.create({ ...wanted, invitedBy: person.id, ms: invitationDays * dayMs });
    if (typeof created === 'string') throw notInvited(created);
    const { id, email } = created.invitation;
    const target = { kind: 'invitation', id, name: email };
    const details = { role: wanted.role, teamId: wanted.teamId };
    await record(parts, person, { action: 'invitation.create', target, details });
    const link = new URL(`/link/${created.token}`, routerAddress(request, parts.publicUrl)).href;
    response.status(201).json({ invitation: invitationAnswer(created.invitation), link });
  });
  routes.delete('/invitations/:id', async (request, response) => {
    const invitation = await invitations.find(request.params.id);
    if (!invitation) throw notFound();
    await invitations.delete(invitation);
    const target = { kind: 'invitation', id: invitation.id, name: invitation.email };
    await record(parts, signedInOf(response), { action: 'invitation.delete', target, details: {} });
    response.status(204).end();
  });
  return routes;
}

function invitationAnswer({ id, email, role, teamId, createdAt, expiresAt }: InvitationRecord): Invitation {
  return { id, email, role, createdAt, expiresAt, ...(teamId === undefined ? {} : { teamId }) };
}

function notInvited(why: 'email taken' | 'no team' | 'too many'): ApiFailure {
  switch (why) {
    case 'email taken':
      return new ApiFailure(409, 'email_taken', 'An account with this e-mail address exists already.', {
        field: 'email',
      });
    case 'no team':
      return new ApiFailure(400, 'invalid_request', 'This team does not exist.', { field: 'teamId' });
    case 'too many':
      return new ApiFailure(409, 'too_many_invitations', 'There are 500 open invitations already.');
  }
}
