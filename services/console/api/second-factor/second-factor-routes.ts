import type { RegistrationResponseJSON } from '@simplewebauthn/server';
import { Router, type Request, type Response } from 'express';
import { renderSVG } from 'uqr';
import { z } from 'zod';
import { maxPasskeys } from '#shared/accounts/second-factor/second-factor-store.ts';
import { displayNameSchema } from '#shared/accounts/people/user.ts';
import type { NewApp, RecoveryCodes, SecondFactors } from '../../contract/second-factor.ts';
import { ApiFailure, notFound } from '../api-failure.ts';
import { record, type ApiParts } from '../api-parts.ts';
import { parse } from '../parse.ts';
import { provePassword } from '../session/prove-password.ts';
import { signedInOf, type SignedIn } from '../session/signed-in.ts';
import { newApp, stepOfCode } from './app-codes.ts';
import { newPasskeyOptions, readNewPasskey, relyingParty } from './passkeys.ts';

const withPassword = z.strictObject({ password: z.string().min(1).max(200) });
const withCode = z.strictObject({ code: z.string().min(1).max(40) });
const passkey = z.strictObject({ name: displayNameSchema, response: z.looseObject({ id: z.string() }) });

/** Creates the routes for the second factors of the signed-in person. Adding and removing them needs the password. */
export function secondFactorRoutes(parts: ApiParts & { isDemanded: (person: SignedIn) => Promise<boolean> }): Router {
  const { secondFactors, publicUrl } = parts;
  const routes = Router({ caseSensitive: true, strict: true });
  routes.get('/second-factor', async (_, response) => {
    const person = signedInOf(response);
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
    const person = await proven(request, response);
    const { secret, uri } = newApp(person.user.email);
    await secondFactors.beginTotp(person.id, secret);
    response.json({ secret, svg: renderSVG(uri) } satisfies NewApp);
  });
  routes.post('/second-factor/app/confirm', async (request, response) => {
    const person = signedInOf(response);
    const { code } = parse(withCode, request.body);
    const secret = await secondFactors.findNewTotp(person.id);
    if (secret === undefined) throw tooLate();
    const step = stepOfCode(secret, code);
    if (step === undefined) throw new ApiFailure(400, 'wrong_code', 'This code is wrong.', { field: 'code' });
    await secondFactors.storeTotp(person.id, secret);
    await secondFactors.useCode(person.id, step);
    response.json(await added(person, 'app'));
  });
  routes.delete('/second-factor/app', async (request, response) => {
    const person = await proven(request, response);
    if (!(await secondFactors.remove(person.id, 'totp'))) throw notFound();
    await note(person, 'second-factor.remove', { kind: 'app' });
    response.status(204).end();
  });
  routes.post('/second-factor/passkeys/options', async (request, response) => {
    const person = await proven(request, response);
    const { passkeys } = await secondFactors.find(person.id);
    if (passkeys.length >= maxPasskeys) {
      throw new ApiFailure(409, 'too_many', `You have ${maxPasskeys} passkeys. Remove one first.`);
    }
    const options = await newPasskeyOptions(relyingParty(request, publicUrl), person.user, passkeys);
    await secondFactors.beginPasskey(person.id, options.challenge);
    response.json(options);
  });
  routes.post('/second-factor/passkeys', async (request, response) => {
    const person = signedInOf(response);
    const { name, response: answer } = parse(passkey, request.body);
    const challenge = await secondFactors.takePasskeyChallenge(person.id);
    if (challenge === undefined) throw tooLate();
    const made = { name, response: answer as unknown as RegistrationResponseJSON };
    const read = await readNewPasskey(relyingParty(request, publicUrl), challenge, made);
    if (!read) throw new ApiFailure(400, 'wrong_passkey', 'The answer of your browser is not valid.');
    await secondFactors.storePasskey(person.id, read);
    response.json(await added(person, 'passkey'));
  });
  routes.delete('/second-factor/passkeys/:id', async (request, response) => {
    const person = await proven(request, response);
    if (!(await secondFactors.remove(person.id, `passkey:${request.params.id}`))) throw notFound();
    await note(person, 'second-factor.remove', { kind: 'passkey' });
    response.status(204).end();
  });
  routes.post('/second-factor/recovery-codes', async (request, response) => {
    const person = await proven(request, response);
    const codes = await secondFactors.makeRecoveryCodes(person.id);
    if (!codes) throw notFound();
    await note(person, 'second-factor.codes', {});
    response.json({ codes } satisfies RecoveryCodes);
  });
  return routes;

  /** Checks the password in the request, and returns the signed-in person. */
  async function proven(request: Request, response: Response): Promise<SignedIn> {
    const person = signedInOf(response);
    const { password } = parse(withPassword, request.body);
    const { email } = person.user;
    await provePassword(parts, request, { email, password, find: async () => person.user, field: 'password' });
    return person;
  }

  /**
   * Records an added factor. The first factor comes with recovery codes.
   * @throws ApiFailure 404 when the factor was removed meanwhile
   */
  async function added(person: SignedIn, kind: string): Promise<RecoveryCodes> {
    await note(person, 'second-factor.add', { kind });
    const { recoveryCodesLeft } = await secondFactors.find(person.id);
    const codes = recoveryCodesLeft > 0 ? [] : await secondFactors.makeRecoveryCodes(person.id);
    if (!codes) throw notFound();
    return { codes };
  }

  function note(person: SignedIn, action: string, details: Record<string, unknown>): Promise<void> {
    const target = { kind: 'user', id: person.id, name: person.name };
    return record(parts, person, { action, target, details });
  }
}

function tooLate(): ApiFailure {
  return new ApiFailure(409, 'too_late', 'This took too long. Begin again.');
}
