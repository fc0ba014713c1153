import { hash, randomBytes } from 'node:crypto';

const tokenPattern = /^[\w-]{43}$/;

/** Generates a random token of 256 bits, for the id of a sign-in session or a one-time link. It has 43 characters that fit into a URL. */
export function generateToken(): string {
  return randomBytes(32).toString('base64url');
}

/** Returns the stored form of a token: its SHA-256. A hash without salt and of low cost is enough, because a token cannot be guessed. */
export function hashToken(token: string): string {
  return hash('sha256', token, 'base64url');
}

export function isToken(text: string): boolean {
  return tokenPattern.test(text);
}
