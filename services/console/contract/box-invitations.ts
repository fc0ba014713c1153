import { z } from 'zod';
import { tiers, type Tier } from '#shared/core/tier.ts';
import { time } from './conventions.ts';

/*
 * The contract between the console's pages and its API: the invitations with which machines (boxes) join as workers. The rules of
 * `conventions.ts` apply. Everything is for admins. An ingress without `CREDENTIALS_DIR` answers 409 `no_authority`.
 */

export const boxInvitationSchema = z
  .object({
    id: z.string(),
    name: z
      .string()
      .exactOptional()
      .describe('The name that the box gets, with a number if it is taken by then. Absent: the name of its host.'),
    tiers: z.array(z.enum(tiers)).describe('The tiers that the box may serve.'),
    createdAt: time,
    expiresAt: time,
    redeemedAt: time.exactOptional().describe('Absent: no box has used the invitation.'),
    box: z
      .string()
      .exactOptional()
      .describe('The name of the box that has joined. Its workers are called `<box>.<worker>`.'),
  })
  .meta({ id: 'BoxInvitation' });

/** `GET /box-invitations`: the invitations that have not expired, without their secrets. */
export type BoxInvitation = z.output<typeof boxInvitationSchema>;

export const createdBoxInvitationSchema = z
  .object({
    invitation: boxInvitationSchema,
    command: z
      .string()
      .describe('The line to run on the machine that joins. It contains a secret, and is shown only this once.'),
    note: z.string().exactOptional().describe('Why the line may not work on another machine, and what to do about it.'),
  })
  .meta({ id: 'CreatedBoxInvitation' });

/** The answer of `POST /box-invitations` with a NewBoxInvitation. */
export type CreatedBoxInvitation = z.output<typeof createdBoxInvitationSchema>;

/** Without `tiers`, the box may serve the tier `gpu`. Without `expiresInMinutes`, the invitation is valid for an hour. */
export interface NewBoxInvitation {
  tiers?: Tier[];
  name?: string;
  expiresInMinutes?: number;
}
