import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import type { Session } from './account.ts';

/*
 * The contract between the console's pages and its API: second factors of local accounts. All paths are below `/console/api`. Times are
 * milliseconds since 1970.
 */

/**
 * What `POST /session`, and a link for a new password, answer in place of a Session when the person has a second factor. The browser has
 * five minutes and five tries: `POST /session/second` with a SecondStep answers the Session; `POST /session/second/passkey` answers the
 * options for a passkey.
 */
export interface SecondStepNeeded {
  secondStep: { app: boolean; passkeys: boolean };
}

export type SignInAnswer = Session | SecondStepNeeded;

/** A code of the app, a recovery code, or the answer of a passkey. */
export type SecondStep = { code: string } | { passkey: AuthenticationResponseJSON };

/**
 * `GET /second-factor`: what the signed-in person has. All changes but the two that confirm ask for the password.
 *
 * - `POST /second-factor/app` `{ password }` answers a NewApp; `POST /second-factor/app/confirm` `{ code }` answers RecoveryCodes;
 *   `DELETE /second-factor/app` `{ password }`
 * - `POST /second-factor/passkeys/options` `{ password }` answers the options; `POST /second-factor/passkeys` `{ name, response }` answers
 *   RecoveryCodes; `DELETE /second-factor/passkeys/<id>` `{ password }`
 * - `POST /second-factor/recovery-codes` `{ password }` answers RecoveryCodes: all before are void
 * - `DELETE /users/<id>/second-factor` removes all of a person (admins)
 */
export interface SecondFactors {
  app: boolean;
  passkeys: { id: string; name: string; createdAt: number }[];
  recoveryCodesLeft: number;
  /** An administrator demands one, and the person has none: nothing else can be done until then. */
  demanded: boolean;
}

export interface NewApp {
  /** To be typed, as base32. */
  secret: string;
  /** To be scanned: a picture of the address that apps read. */
  svg: string;
}

export interface RecoveryCodes {
  /** Empty where the person has some already. */
  codes: string[];
}

export type NewPasskeyOptions = PublicKeyCredentialCreationOptionsJSON;
export type PasskeyOptions = PublicKeyCredentialRequestOptionsJSON;

export interface NewPasskey {
  name: string;
  response: RegistrationResponseJSON;
}
