import type { AuthenticationResponseJSON } from '@simplewebauthn/server';
import { Router, type Request } from 'express';
import { z } from 'zod';
import type { UserRecord } from '#shared/accounts/people/user.ts';
import type { PendingSignIn } from '#shared/accounts/sign-in/second-factor/second-factor-store.ts';
import { ApiFailure } from '../api-failure.ts';
import { writeAudit, type ApiParts } from '../api-parts.ts';
import { parse } from '../parse.ts';
import { guardGuess } from '../session/guard-guess.ts';
import { startSession } from '../session/start-session.ts';
import { requireLocalAccounts } from '../session/signed-in.ts';
import { findStepOfCode } from './app-codes.ts';
import { createSignInOptions, verifyPasskey, findRelyingParty } from './passkeys.ts';
import { clearPendingCookie, readPendingToken } from '../session/cookies.ts';

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
    const token = readPendingToken(request) ?? '';
    const userId = await secondFactors.findSignIn(token);
    if (userId === undefined) throw expiredFailure();
    const { passkeys } = await secondFactors.find(userId);
    const options = await createSignInOptions(findRelyingParty(request, publicUrl), passkeys);
    if (!(await secondFactors.storeChallenge(token, options.challenge))) throw expiredFailure();
    response.json(options);
  });
  routes.post('/session/second', async (request, response) => {
    const proof = parse(step, request.body);
    const token = readPendingToken(request) ?? '';
    const pending = await secondFactors.trySignIn(token);
    if (!pending) throw expiredFailure();
    requireLocalAccounts(parts, pending.opener);
    const user = await accounts.users.find(pending.userId);
    if (!user || user.blockedAt !== undefined || user.epoch !== pending.epoch) throw expiredFailure();
    await requireProof(request, user, pending, proof);
    await secondFactors.endSignIn(token);
    clearPendingCookie(request, response);
    response.json(await startSession(parts, request, response, user, pending.opener));
  });
  return routes;

  /**
   * Checks the code or passkey of a second step.
   * @throws ApiFailure 401 for a wrong answer, 429 after too many wrong answers for the account
   */
  async function requireProof(request: Request, user: UserRecord, pending: PendingSignIn, proof: Step): Promise<void> {
    // Wrong answers are counted per account and apart from wrong passwords, because whoever reaches this step has the password already.
    const signInTry = { address: request.ip ?? '', email: user.email, device: 'second-step' };
    const isRight = await guardGuess(parts, {
      signInTry,
      refusal: 'Too many wrong codes.',
      onRefusals: () => {
        const target = { kind: 'user', id: user.id, name: user.name };
        return writeAudit(parts, null, {
          action: 'second-factor.refused',
          target,
          details: { address: signInTry.address },
        });
      },
      judge: async () => {
        const isProven =
          'code' in proof
            ? await checkCode(user, proof.code)
            : await checkPasskey(request, user, pending, proof.passkey);
        return isProven || undefined;
      },
      resetsCount: true,
    });
    if (!isRight) throw new ApiFailure(401, 'wrong_code', 'This code is wrong, or was used before.', { field: 'code' });
  }

  async function checkCode({ id, name }: UserRecord, code: string): Promise<boolean> {
    const { totp } = await secondFactors.find(id);
    const codeStep = totp === undefined ? undefined : findStepOfCode(totp, code);
    if (codeStep !== undefined) return secondFactors.useCode(id, codeStep);
    if (!(await secondFactors.takeRecoveryCode(id, code))) return false;
    const { recoveryCodesLeft } = await secondFactors.find(id);
    const target = { kind: 'user', id, name };
    await writeAudit(parts, null, { action: 'second-factor.recovery', target, details: { left: recoveryCodesLeft } });
    return true;
  }

  async function checkPasskey(
    request: Request,
    { id }: UserRecord,
    { challenge }: PendingSignIn,
    answer: unknown,
  ): Promise<boolean> {
    if (challenge === undefined) return false;
    const { passkeys } = await secondFactors.find(id);
    const party = findRelyingParty(request, publicUrl);
    const proven = await verifyPasskey(party, challenge, answer as AuthenticationResponseJSON, passkeys);
    return proven !== undefined && (await secondFactors.notePasskeyUse(id, proven));
  }
}

function expiredFailure(): ApiFailure {
  return new ApiFailure(401, 'sign_in_over', 'The sign-in took too long, or had too many wrong codes. Sign in again.');
}
