import type { RequestHandler } from 'express';
import { localhostAllowedOrigins, validateOriginHeader } from '@modelcontextprotocol/server';
import { RouterError } from '#shared/core/errors.ts';

/**
 * Refuses requests from web pages of hosts that are not on the list: a page could have its own name point to this machine
 * and then talk to it (DNS rebinding; Model Context Protocol, "Streamable HTTP: Security Warning"). Only browsers send the
 * header; pages of this machine itself may.
 */
export function requireOrigin(hosts: readonly string[]): RequestHandler {
  const allowed = [...localhostAllowedOrigins(), ...hosts];
  return (request, _, next) => {
    if (!validateOriginHeader(request.get('origin'), allowed).ok) {
      throw new RouterError('permission_denied', 'Web pages of this origin may not use the tools.');
    }
    next();
  };
}
