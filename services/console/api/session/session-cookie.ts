import type { Request, Response } from 'express';
import { createCookieAttributes, toCookieName, readCookie } from './cookies.ts';

const name = 'rtr';

/** Milliseconds after which the cookie expires. A session lasts 30 days at most. */
const maxAge = 30 * 24 * 3_600_000;

export function readSessionId(request: Request): string | undefined {
  return readCookie(request, name);
}

export function setSessionCookie(request: Request, response: Response, sessionId: string): void {
  response.cookie(toCookieName(request, name), sessionId, { ...createCookieAttributes(request), maxAge });
}

export function clearSessionCookie(request: Request, response: Response): void {
  response.clearCookie(toCookieName(request, name), createCookieAttributes(request));
}
