import type {
  AuthenticationResponseJSON,
  AuthenticatorTransport,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import type { Request } from 'express';
import type { Passkey } from '#shared/accounts/sign-in/second-factor/second-factor-store.ts';
import type { UserRecord } from '#shared/accounts/people/user.ts';
import { resolveRouterAddress } from '#shared/core/router-address.ts';

/**
 * Imports the library at the first use of a passkey, because the import takes 0.2 seconds and would delay the start of an ingress.
 */
const importLibrary = () => import('@simplewebauthn/server');

/** The host of the router and the origin of its pages, to which passkeys of the console are bound. */
export interface RelyingParty {
  id: string;
  origin: string;
}

/**
 * Returns the relying party of this router.
 * @param publicUrl the address at which people reach the router; undefined: the address of the request
 */
export function findRelyingParty(request: Request, publicUrl: string | undefined): RelyingParty {
  const { hostname, origin } = new URL(resolveRouterAddress(request, publicUrl));
  return { id: hostname, origin };
}

/** Returns the options with which a browser makes a passkey for a person. */
export async function createRegistrationOptions(
  { id: rpID }: RelyingParty,
  { id, email, name }: UserRecord,
  passkeys: readonly Passkey[],
) {
  const { generateRegistrationOptions } = await importLibrary();
  return generateRegistrationOptions({
    rpName: 'Model Router',
    rpID,
    userID: new Uint8Array(Buffer.from(id)),
    userName: email,
    userDisplayName: name,
    attestationType: 'none',
    excludeCredentials: passkeys.map(toCredential),
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
  });
}

/** Verifies the passkey that a browser has made. Returns undefined for an invalid answer. */
export async function verifyNewPasskey(
  { id: expectedRPID, origin: expectedOrigin }: RelyingParty,
  expectedChallenge: string,
  { name, response }: { name: string; response: RegistrationResponseJSON },
): Promise<Passkey | undefined> {
  const expected = { expectedRPID, expectedOrigin, expectedChallenge, requireUserVerification: false };
  const { verifyRegistrationResponse } = await importLibrary();
  const { verified, registrationInfo } = await verifyRegistrationResponse({ response, ...expected }).catch(
    toUnverified,
  );
  if (!verified || !registrationInfo) return undefined;
  const { id, publicKey, counter, transports = [] } = registrationInfo.credential;
  const key = Buffer.from(publicKey).toString('base64url');
  return { id, name, publicKey: key, counter, transports, createdAt: Date.now() };
}

/** Returns the options with which a browser proves one of a person's passkeys. */
export async function createSignInOptions({ id: rpID }: RelyingParty, passkeys: readonly Passkey[]) {
  const { generateAuthenticationOptions } = await importLibrary();
  return generateAuthenticationOptions({
    rpID,
    allowCredentials: passkeys.map(toCredential),
    userVerification: 'preferred',
  });
}

/** Verifies the proof of a passkey, and returns the passkey with its new counter. Returns undefined for an invalid answer. */
export async function verifyPasskey(
  { id: expectedRPID, origin: expectedOrigin }: RelyingParty,
  expectedChallenge: string,
  response: AuthenticationResponseJSON,
  passkeys: readonly Passkey[],
): Promise<Passkey | undefined> {
  const passkey = passkeys.find(({ id }) => id === response.id);
  if (!passkey) return undefined;
  const { id, counter, publicKey } = passkey;
  const credential = { id, counter, publicKey: new Uint8Array(Buffer.from(publicKey, 'base64url')) };
  const expected = { expectedRPID, expectedOrigin, expectedChallenge, requireUserVerification: false };
  const { verifyAuthenticationResponse } = await importLibrary();
  const outcome = await verifyAuthenticationResponse({ response, ...expected, credential }).catch(toUnverified);
  if (!outcome.verified || !('authenticationInfo' in outcome)) return undefined;
  return { ...passkey, counter: outcome.authenticationInfo.newCounter };
}

function toCredential({ id, transports }: Passkey): { id: string; transports: AuthenticatorTransport[] } {
  return { id, transports: transports as AuthenticatorTransport[] };
}

/**
 * Maps every error of the library to a failed verification. The library throws for honest mistakes of a browser as well as for forged
 * answers.
 */
function toUnverified(): { verified: false; registrationInfo?: undefined } {
  return { verified: false };
}
