import type { RegistrationResponseJSON } from '@simplewebauthn/server';
import { Router, type Request, type Response } from 'express';
import { renderSVG } from 'uqr';
import { z } from 'zod';
import { maxPasskeys } from '#shared/accounts/sign-in/second-factor/second-factor-store.ts';
import { displayNameSchema } from '#shared/accounts/people/user.ts';
import type { NewApp, RecoveryCodes, SecondFactors } from '../../contract/second-factor.ts';
import { ApiFailure, notFound } from '../api-failure.ts';
import { writeAudit, type ApiParts } from '../api-parts.ts';
import { parse } from '../parse.ts';
import { provePassword } from '../session/prove-password.ts';
import { getSignedIn, type SignedIn } from '../session/signed-in.ts';
import { createApp, findStepOfCode } from './app-codes.ts';
import { createRegistrationOptions, verifyNewPasskey, findRelyingParty } from './passkeys.ts';

const passwordBody = z.strictObject({ password: z.string().min(1).max(200) });
const codeBody = z.strictObject({ code: z.string().min(1).max(40) });
const passkeyBody = z.strictObject({ name: displayNameSchema, response: z.looseObject({ id: z.string() }) });

/** Creates the routes for the second factors of the signed-in person. Adding and removing them needs the password. */
export function secondFactorRoutes(parts: ApiParts & { isDemanded: (person: SignedIn) => Promise<boolean> }): Router {
  const { secondFactors, publicUrl } = parts;
  const routes = Router({ caseSensitive: true, strict: true });
  routes.get('/second-factor', async (_, response) => {
    const person = getSignedIn(response);
    const { totp, passkeys, recoveryCodesLeft } = await secondFactors.find(person.id);
    const answer: SecondFactors = {
      app: totp !== undefined,
      passkeys: passkeys.map(({ id, name, createdAt }) => ({ id, name, createdAt })),
      recoveryCodesLeft,
      demanded: await parts.isDemanded(person),
    };
    response.json(answer);
  });
  routes.post('/second-factor/app', async (request, response) => {
    const person = await requirePassword(request, response);
    const { secret, uri } = createApp(person.user.email);
    await secondFactors.beginTotp(person.id, secret);
    response.json({ secret, svg: renderSVG(uri) } satisfies NewApp);
  });
  routes.post('/second-factor/app/confirm', async (request, response) => {
    const person = getSignedIn(response);
    const { code } = parse(codeBody, request.body);
    const secret = await secondFactors.findNewTotp(person.id);
    if (secret === undefined) throw tooLateFailure();
    const step = findStepOfCode(secret, code);
    if (step === undefined) throw new ApiFailure(400, 'wrong_code', 'This code is wrong.', { field: 'code' });
    await secondFactors.storeTotp(person.id, secret);
    await secondFactors.useCode(person.id, step);
    response.json(await finishAddition(person, 'app'));
  });
  routes.delete('/second-factor/app', async (request, response) => {
    const person = await requirePassword(request, response);
    if (!(await secondFactors.remove(person.id, 'totp'))) throw notFound();
    await auditFactor(person, 'second-factor.remove', { kind: 'app' });
    response.status(204).end();
  });
  routes.post('/second-factor/passkeys/options', async (request, response) => {
    const person = await requirePassword(request, response);
    const { passkeys } = await secondFactors.find(person.id);
    if (passkeys.length >= maxPasskeys) {
      throw new ApiFailure(409, 'too_many', `You have ${maxPasskeys} passkeys. Remove one first.`);
    }
    const options = await createRegistrationOptions(findRelyingParty(request, publicUrl), person.user, passkeys);
    await secondFactors.beginPasskey(person.id, options.challenge);
    response.json(options);
  });
  routes.post('/second-factor/passkeys', async (request, response) => {
    const person = getSignedIn(response);
    const { name, response: answer } = parse(passkeyBody, request.body);
    const challenge = await secondFactors.takePasskeyChallenge(person.id);
    if (challenge === undefined) throw tooLateFailure();
    const newPasskey = { name, response: answer as unknown as RegistrationResponseJSON };
    const verified = await verifyNewPasskey(findRelyingParty(request, publicUrl), challenge, newPasskey);
    if (!verified) throw new ApiFailure(400, 'wrong_passkey', 'The answer of your browser is not valid.');
    await secondFactors.storePasskey(person.id, verified);
    response.json(await finishAddition(person, 'passkey'));
  });
  routes.delete('/second-factor/passkeys/:id', async (request, response) => {
    const person = await requirePassword(request, response);
    if (!(await secondFactors.remove(person.id, `passkey:${request.params.id}`))) throw notFound();
    await auditFactor(person, 'second-factor.remove', { kind: 'passkey' });
    response.status(204).end();
  });
  routes.post('/second-factor/recovery-codes', async (request, response) => {
    const person = await requirePassword(request, response);
    const codes = await secondFactors.makeRecoveryCodes(person.id);
    if (!codes) throw notFound();
    await auditFactor(person, 'second-factor.codes', {});
    response.json({ codes } satisfies RecoveryCodes);
  });
  return routes;

  /** Checks the password in the request, and returns the signed-in person. */
  async function requirePassword(request: Request, response: Response): Promise<SignedIn> {
    const person = getSignedIn(response);
    const { password } = parse(passwordBody, request.body);
    const { email } = person.user;
    await provePassword(parts, request, { email, password, find: async () => person.user, field: 'password' });
    return person;
  }

  /**
   * Writes an added factor into the audit trail. Returns new recovery codes if the person has none left, for example after the first
   * factor, and no codes otherwise.
   * @throws ApiFailure 404 if the factor was removed meanwhile
   */
  async function finishAddition(person: SignedIn, kind: string): Promise<RecoveryCodes> {
    await auditFactor(person, 'second-factor.add', { kind });
    const { recoveryCodesLeft } = await secondFactors.find(person.id);
    const codes = recoveryCodesLeft > 0 ? [] : await secondFactors.makeRecoveryCodes(person.id);
    if (!codes) throw notFound();
    return { codes };
  }

  function auditFactor(person: SignedIn, action: string, details: Record<string, unknown>): Promise<void> {
    const target = { kind: 'user', id: person.id, name: person.name };
    return writeAudit(parts, person, { action, target, details });
  }
}

function tooLateFailure(): ApiFailure {
  return new ApiFailure(409, 'too_late', 'This took too long. Begin again.');
}
