import { z } from 'zod';
import { credentialNamePattern } from '#shared/broker/connection/credential.ts';
import { tiers, type Tier } from '#shared/core/tier.ts';
import { toPrintable } from '../client/lib/to-printable.mjs';
import { BoxError, newLineHint } from './box-error.ts';
import { callRouter, type RouterAnswer } from './call-router.ts';
import type { Invitation } from './parse-invitation.ts';

/** What a router gives a box for its invitation. */
export interface Admission {
  /** Name of the box, which is the name of its credentials. */
  name: string;
  /** The token that NATS calls a user JWT, one for each tier that the box may serve. */
  credentials: Partial<Record<Tier, string>>;
  /** Path of the broker at the router's address. */
  broker: string;
  /** The router's certificate in PEM, if the invitation has its fingerprint. */
  certificate: string | undefined;
}

const admissionSchema = z.object({
  name: z.string().regex(credentialNamePattern),
  credentials: z.record(z.string(), z.string().min(1)),
  broker: z.string().startsWith('/'),
});
const refusalSchema = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

/**
 * Exchanges an invitation for credentials. The same invitation and key can be exchanged again until the invitation expires, so that a lost
 * answer costs nothing.
 * @param key the public key of the box
 * @throws BoxError
 */
export async function redeemInvitation(
  invitation: Invitation,
  { key, host }: { key: string; host: string },
): Promise<Admission> {
  const { address, secret } = invitation;
  const answer = await callRouter(invitation, '/api/join', { v: 1, token: secret, key, host });
  const body = parseJson(answer.text);
  const admission = answer.status === 200 ? admissionSchema.safeParse(body).data : undefined;
  // The path could name another host, as `//host/` does.
  const hasOtherHost = admission && new URL(admission.broker, address).host !== new URL(address).host;
  if (!admission || hasOtherHost) throw explainRefusal(address, answer, refusalSchema.safeParse(body).data?.error);
  const { name, broker } = admission;
  const credentials: Admission['credentials'] = {};
  // Tiers that this release does not know are left out.
  for (const tier of tiers) {
    const jwt = admission.credentials[tier];
    if (jwt !== undefined) credentials[tier] = jwt;
  }
  return { name, credentials, broker, certificate: answer.certificate };
}

function explainRefusal(
  address: string,
  { status, type }: RouterAnswer,
  refusal: { code: string; message: string } | undefined,
): BoxError {
  switch (refusal?.code) {
    case 'invitation_unknown':
      return new BoxError(
        'invitation_refused',
        `${address} does not know this invitation: it was withdrawn, or is of another router; ${newLineHint}.`,
      );
    case 'invitation_used':
      return new BoxError(
        'invitation_refused',
        `Another box has used this invitation, and each is for one box; ${newLineHint}.`,
      );
    case 'invitation_expired':
      return new BoxError('invitation_refused', `This invitation has expired; ${newLineHint}.`);
    default:
  }
  if (status === 404 && !/html/i.test(type))
    return new BoxError(
      'router_too_old',
      `The router at ${address} is of a release that boxes cannot join: update the router, and run the same line again.`,
    );
  if (refusal)
    return new BoxError(
      'router_failed',
      `The router at ${address} refuses: ${toPrintable(refusal.message)} (${status}, ${toPrintable(refusal.code)}). Run the same line again later.`,
    );
  if (status >= 500)
    return new BoxError(
      'router_failed',
      `The router at ${address} cannot answer now (status ${status}): run the same line again in a minute.`,
    );
  return new BoxError(
    'not_a_router',
    `What answers at ${address} is not a router (status ${status}): check the address, and ask for a new line if it is wrong.`,
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
