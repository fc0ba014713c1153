import { createHmac, randomInt } from 'node:crypto';
import { deriveKey } from '#shared/core/seal.ts';
import { keyAlphabet } from '../../keys/key-format.ts';

const codeLength = 10;

export function generateRecoveryCode(): string {
  return Array.from({ length: codeLength }, () => keyAlphabet.charAt(randomInt(keyAlphabet.length))).join('');
}

/** Returns a recovery code in two halves, for display. */
export function formatRecoveryCode(code: string): string {
  return `${code.slice(0, codeLength / 2)}-${code.slice(codeLength / 2)}`;
}

/** Reads a recovery code that a person has entered. Dashes, spaces and case do not matter. Undefined if the text cannot be a code. */
export function readRecoveryCode(entered: string): string | undefined {
  const code = entered.toLowerCase().replaceAll(/[\s-]/g, '');
  return code.length === codeLength ? code : undefined;
}

/**
 * Computes the name of the field for a recovery code of a person. The name contains an HMAC of the code.
 * @param secret a secret of the cluster
 */
export function computeRecoveryField(secret: Uint8Array, userId: string, code: string): string {
  const mac = createHmac('sha256', deriveKey(secret, 'recovery codes')).update(`${userId} ${code}`).digest('base64url');
  return `recovery:${mac}`;
}
