import { hash, randomBytes } from 'node:crypto';

const tokenPattern = /^[\w-]{43}$/;

/** Generates a random token of 256 bits for a sign-in session or a one-time link: 43 characters that are valid in a URL. */
export function generateToken(): string {
  return randomBytes(32).toString('base64url');
}

/** Returns the stored form of a token: its SHA-256. A cheap hash without salt is enough, because a token cannot be guessed. */
export function hashToken(token: string): string {
  return hash('sha256', token, 'base64url');
}

export function isToken(text: string): boolean {
  return tokenPattern.test(text);
}
