import type { Request, Response } from 'express';
import { cookieAttributes, cookieName, readCookie } from './cookies.ts';

const name = 'rtr';

/** Milliseconds after which the cookie expires. A session lasts 30 days at most. */
const maxAge = 30 * 24 * 3_600_000;

export function sessionIdOf(request: Request): string | undefined {
  return readCookie(request, name);
}

export function setSessionCookie(request: Request, response: Response, sessionId: string): void {
  response.cookie(cookieName(request, name), sessionId, { ...cookieAttributes(request), maxAge });
}

export function clearSessionCookie(request: Request, response: Response): void {
  response.clearCookie(cookieName(request, name), cookieAttributes(request));
}
