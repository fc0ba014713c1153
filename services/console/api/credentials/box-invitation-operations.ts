import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import {
  maxBoxInvitations,
  type BoxInvitation as StoredInvitation,
} from '#shared/accounts/boxes/box-invitation-store.ts';
import { readAuthority } from '#shared/broker/authority/authority-folder.ts';
import { isValid } from '#shared/broker/authority/credentials.ts';
import { tiers } from '#shared/core/tier.ts';
import { readCertificateFacts, type CertificateFacts } from '#shared/core/tls/read-certificate-facts.ts';
import { boxInvitationSchema, createdBoxInvitationSchema, type BoxInvitation } from '../../contract/box-invitations.ts';
import { ApiFailure, notFound } from '../api-failure.ts';
import { writeAudit } from '../api-parts.ts';
import { listOperation, operation, type Operation } from '../operations/operation.ts';
import { byCreation, cutPage, formatTimedCursor, type Order } from '../operations/page.ts';
import {
  createNameInUseError,
  credentialName,
  requireAuthority,
  type BoxInvitationParts,
} from './require-authority.ts';
import { findJoinAddress } from './find-join-address.ts';
import { formatJoinLine } from './format-join-line.ts';

const minuteMs = 60_000;

const byExpiry: Order<StoredInvitation> = {
  cursorOf: ({ expiresAt, id }) => formatTimedCursor(expiresAt, id),
  form: byCreation.form,
};

const newInvitation = z.strictObject({
  tiers: z
    .array(z.enum(tiers))
    .min(1)
    .max(tiers.length)
    .default(['gpu'])
    .describe('The tiers that the machine may serve.'),
  name: credentialName.optional().describe('The name that the machine gets. Absent: the name of its host.'),
  expiresInMinutes: z
    .number()
    .int()
    .min(1)
    .max(7 * 24 * 60)
    .default(60)
    .describe('For how long the line can be used, up to a week.'),
});

export function boxInvitationOperations(parts: BoxInvitationParts): Operation[] {
  const { boxInvitations } = parts.accounts;
  return [
    listOperation({
      path: '/box-invitations',
      id: 'listBoxInvitations',
      subject: 'workers',
      summary:
        'Lists the invitations of machines that have not expired, and which machine has used them. The next to expire comes first.',
      scopes: ['read'],
      command: 'invite list',
      form: { none: 'There are no open invitations of machines.' },
      item: boxInvitationSchema,
      handle: async ({ actor }, page) => {
        requireAuthority(parts, actor);
        const { data, next } = cutPage(await boxInvitations.list(), page, byExpiry);
        return { data: data.map(toAnswer), next };
      },
    }),
    operation({
      method: 'post',
      path: '/box-invitations',
      id: 'createBoxInvitation',
      subject: 'workers',
      summary: 'Invites a machine to join as a worker. The response contains the line to run there.',
      scopes: [],
      command: 'invite worker',
      form: {
        flags: { tiers: 'tier', expiresInMinutes: 'expires' },
        done: '{command}',
        hint: 'Run this line on the machine that joins, once, before {invitation.expiresAt}. {note}',
        example: 'invite worker --name joes-box --expires 1h',
      },
      body: newInvitation,
      answer: createdBoxInvitationSchema,
      statuses: [201],
      handle: async ({ actor, body, request }) => {
        const { folder } = requireAuthority(parts, actor);
        const { name, expiresInMinutes } = body;
        const now = Date.now();
        if (readAuthority(folder).issued.some((other) => other.name === name && isValid(other, now)))
          throw createNameInUseError(name);
        const certificate = await readCertificate();
        const listening = { ...parts.listening, hasTls: certificate !== undefined };
        const address = findJoinAddress(listening, request, request.socket.localPort ?? 0);
        const created = await boxInvitations.create({
          tiers: [...new Set(body.tiers)],
          name,
          usableMs: expiresInMinutes * minuteMs,
          invitedBy: actor.id.startsWith('token:') ? undefined : actor.id,
        });
        if (!created) {
          const message = `There are ${maxBoxInvitations} invitations of machines already. Withdraw some, or wait until they have expired.`;
          throw new ApiFailure(409, 'too_many_invitations', message);
        }
        const { invitation, secret } = created;
        const details = { tiers: invitation.tiers, expiresAt: invitation.expiresAt };
        await writeAudit(parts, actor, { action: 'credential.invite', target: toTarget(invitation), details });
        const { command, note } = formatJoinLine(address, secret, { certificate, hasRelay: parts.listening.hasRelay });
        return { invitation: toAnswer(invitation), command, ...(note !== undefined && { note }) };
      },
    }),
    operation({
      method: 'delete',
      path: '/box-invitations/{id}',
      id: 'deleteBoxInvitation',
      subject: 'workers',
      summary:
        'Withdraws an invitation of a machine. A machine that has joined with it stays, until its credential is revoked.',
      scopes: [],
      command: 'invite delete',
      form: { references: { id: 'box invitation' }, done: 'The invitation {invitation} is withdrawn.' },
      handle: async ({ actor, params: { id } }) => {
        requireAuthority(parts, actor);
        const invitation = await boxInvitations.find(id);
        if (!invitation) throw notFound();
        await boxInvitations.delete(id);
        await writeAudit(parts, actor, { action: 'credential.uninvite', target: toTarget(invitation), details: {} });
      },
    }),
  ];

  /** Reads the certificate of the router. Its file may have been renewed since the start. */
  async function readCertificate(): Promise<CertificateFacts | undefined> {
    const { tlsFolder } = parts.listening;
    return tlsFolder === undefined
      ? undefined
      : readCertificateFacts(await readFile(join(tlsFolder, 'tls.crt'), 'utf8'));
  }
}

function toTarget({ id, name = '' }: StoredInvitation) {
  return { kind: 'box invitation', id, name };
}

function toAnswer({
  id,
  name,
  tiers: invited,
  createdAt,
  expiresAt,
  redeemedAt,
  box,
}: StoredInvitation): BoxInvitation {
  return {
    id,
    ...(name !== undefined && { name }),
    tiers: invited,
    createdAt,
    expiresAt,
    ...(redeemedAt !== undefined && { redeemedAt }),
    ...(box !== undefined && { box }),
  };
}
