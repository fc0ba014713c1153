import type { IncomingHttpHeaders } from 'node:http';
import type { RequestPurpose } from '#shared/core/purpose.ts';
import type { RequestSigns } from '#shared/formats/request-signs.ts';

/** Form of the names of sessions, agents and prompts. Clients use UUIDs, hexadecimal numbers, and `ses_…`. */
const namePattern = /^[\w.:-]{1,128}$/;

/** Form of agent types. Some contain spaces. */
const typePattern = /^[\w.:-][\w .:-]{0,63}$/;

/**
 * Returns a valid name of a session, an agent or a prompt; undefined for any other value, because an invalid name must not fail a request.
 */
export function readSessionName(value: unknown): string | undefined {
  return typeof value === 'string' && namePattern.test(value) ? value : undefined;
}

/** Returns a valid agent type; undefined for any other value. */
export function readAgentType(value: unknown): string | undefined {
  return typeof value === 'string' && typePattern.test(value) ? value : undefined;
}

/** A coding agent that is recognized by its requests. */
export interface ClientProgram {
  isSender(headers: IncomingHttpHeaders): boolean;
  /**
   * Returns the purpose of a request, and the agent session that the request belongs to.
   * @param signs signs of the purpose in the body; undefined for a format without such signs
   */
  read(headers: IncomingHttpHeaders, signs: RequestSigns | undefined): RequestPurpose;
}
