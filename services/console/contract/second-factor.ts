import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import type { SignInSession } from './sign-in.ts';

/*
 * The contract between the console's pages and its API: second factors of local accounts. All paths are below `/console/api`. Times are
 * milliseconds since 1970.
 */

/**
 * The answer of `POST /session`, and of a link for a new password, in place of a SignInSession when the person has a second factor. The
 * browser has five minutes and five tries: `POST /session/second` with a SecondStep answers the SignInSession;
 * `POST /session/second/passkey` answers the options for a passkey.
 */
export interface SecondStepNeeded {
  secondStep: { app: boolean; passkeys: boolean };
}

export type SignInAnswer = SignInSession | SecondStepNeeded;

/** A code of the app, a recovery code, or the answer of a passkey. */
export type SecondStep = { code: string } | { passkey: AuthenticationResponseJSON };

/**
 * `GET /second-factor`: the second factors of the signed-in person. All changes except the two confirmations need the password.
 *
 * - `POST /second-factor/app` `{ password }` answers a NewApp; `POST /second-factor/app/confirm` `{ code }` answers RecoveryCodes;
 *   `DELETE /second-factor/app` `{ password }`
 * - `POST /second-factor/passkeys/options` `{ password }` answers the options; `POST /second-factor/passkeys` `{ name, response }`
 *   answers RecoveryCodes; `DELETE /second-factor/passkeys/<id>` `{ password }`
 * - `POST /second-factor/recovery-codes` `{ password }` answers RecoveryCodes, which make all earlier codes void
 * - `DELETE /users/<id>/second-factor` removes all second factors of a person (admins)
 */
export interface SecondFactors {
  app: boolean;
  passkeys: { id: string; name: string; createdAt: number }[];
  recoveryCodesLeft: number;
  /** True when an administrator demands a second factor and the person has none. The API then refuses everything else. */
  demanded: boolean;
}

export interface NewApp {
  /** The secret in base32, for typing. */
  secret: string;
  /** The QR code of the address that apps read, as an SVG. */
  svg: string;
}

export interface RecoveryCodes {
  /** Empty if the person has recovery codes already. */
  codes: string[];
}

export type NewPasskeyOptions = PublicKeyCredentialCreationOptionsJSON;
export type PasskeyOptions = PublicKeyCredentialRequestOptionsJSON;

export interface NewPasskey {
  name: string;
  response: RegistrationResponseJSON;
}
