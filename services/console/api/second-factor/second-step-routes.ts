import type { AuthenticationResponseJSON } from '@simplewebauthn/server';
import { Router, type Request } from 'express';
import { z } from 'zod';
import type { UserRecord } from '#shared/accounts/people/user.ts';
import type { PendingSignIn } from '#shared/accounts/second-factor/second-factor-store.ts';
import { ApiFailure } from '../api-failure.ts';
import { record, type ApiParts } from '../api-parts.ts';
import { parse } from '../parse.ts';
import { guardGuess } from '../session/guard-guess.ts';
import { startSession } from '../session/open-session.ts';
import { requireLocalAccounts } from '../session/require-local-accounts.ts';
import { stepOfCode } from './app-codes.ts';
import { passkeyOptions, provenPasskey, relyingParty } from './passkeys.ts';
import { clearPendingCookie, pendingTokenOf } from './pending-cookie.ts';

const step = z.union([
  z.strictObject({ code: z.string().min(1).max(40) }),
  // The library checks the other fields.
  z.strictObject({ passkey: z.looseObject({ id: z.string() }) }),
]);

type Step = z.infer<typeof step>;

export function secondStepRoutes(parts: ApiParts): Router {
  const { accounts, secondFactors, publicUrl } = parts;
  const routes = Router({ caseSensitive: true, strict: true });
  routes.post('/session/second/passkey', async (request, response) => {
    const token = pendingTokenOf(request) ?? '';
    const userId = await secondFactors.findSignIn(token);
    if (userId === undefined) throw signInExpired();
    const { passkeys } = await secondFactors.find(userId);
    const options = await passkeyOptions(relyingParty(request, publicUrl), passkeys);
    if (!(await secondFactors.storeChallenge(token, options.challenge))) throw signInExpired();
    response.json(options);
  });
  routes.post('/session/second', async (request, response) => {
    const proof = parse(step, request.body);
    const token = pendingTokenOf(request) ?? '';
    const pending = await secondFactors.trySignIn(token);
    if (!pending) throw signInExpired();
    requireLocalAccounts(parts, pending.opener);
    const user = await accounts.users.find(pending.userId);
    if (!user || user.blockedAt !== undefined || user.epoch !== pending.epoch) throw signInExpired();
    await prove(request, user, pending, proof);
    await secondFactors.endSignIn(token);
    clearPendingCookie(request, response);
    response.json(await startSession(parts, request, response, user, pending.opener));
  });
  return routes;

  /**
   * Checks the answer of a second step.
   * @throws ApiFailure 401 for a wrong answer, 429 after too many wrong answers for this account
   */
  async function prove(request: Request, user: UserRecord, pending: PendingSignIn, proof: Step): Promise<void> {
    // Wrong answers are counted by account, apart from wrong passwords, because whoever reaches this step has the password.
    const attempt = { address: request.ip ?? '', email: user.email, device: 'second-step' };
    const isRight = await guardGuess(parts, {
      attempt,
      refusal: 'Too many wrong codes.',
      onRefusals: () => {
        const target = { kind: 'user', id: user.id, name: user.name };
        return record(parts, null, { action: 'second-factor.refused', target, details: { address: attempt.address } });
      },
      judge: async () => {
        const isProven =
          'code' in proof ? await isCode(user, proof.code) : await isPasskey(request, user, pending, proof.passkey);
        return isProven || undefined;
      },
      isForgiving: true,
    });
    if (!isRight) throw new ApiFailure(401, 'wrong_code', 'This code is wrong, or was used before.', { field: 'code' });
  }

  async function isCode({ id, name }: UserRecord, code: string): Promise<boolean> {
    const { totp } = await secondFactors.find(id);
    const at = totp === undefined ? undefined : stepOfCode(totp, code);
    if (at !== undefined) return secondFactors.useCode(id, at);
    if (!(await secondFactors.takeRecoveryCode(id, code))) return false;
    const { recoveryCodesLeft } = await secondFactors.find(id);
    const target = { kind: 'user', id, name };
    await record(parts, null, { action: 'second-factor.recovery', target, details: { left: recoveryCodesLeft } });
    return true;
  }

  async function isPasskey(
    request: Request,
    { id }: UserRecord,
    { challenge }: PendingSignIn,
    answer: unknown,
  ): Promise<boolean> {
    if (challenge === undefined) return false;
    const { passkeys } = await secondFactors.find(id);
    const party = relyingParty(request, publicUrl);
    const proven = await provenPasskey(party, challenge, answer as AuthenticationResponseJSON, passkeys);
    return proven !== undefined && (await secondFactors.notePasskeyUse(id, proven));
  }
}

function signInExpired(): ApiFailure {
  return new ApiFailure(401, 'sign_in_over', 'The sign-in took too long, or had too many wrong codes. Sign in again.');
}
