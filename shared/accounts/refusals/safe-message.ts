import type { ErrorCode } from '#shared/core/errors.ts';
import type { Refusal } from './refusal.ts';

/**
 * Error codes whose messages consist only of the router's own words, settings and counts. Messages of all other codes may contain parts of
 * the request: names, paths of fields, values.
 */
const safeCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'missing_key',
  'invalid_api_key',
  'invalid_json',
  'method_not_allowed',
  'upgrade_refused',
  'request_timeout',
  'body_too_large',
  'storage_quota_exceeded',
  'storage_full',
  'unsupported_encoding',
  'headers_too_large',
  'request_exceeds_limit',
  'rate_limit_exceeded',
  'token_limit_exceeded',
  'insufficient_quota',
  'workers_died',
  'overloaded',
  'store_unavailable',
  'broker_unavailable',
  'shutting_down',
]);

/** Returns the message of an error, unless it may contain a part of the request, or an upstream has written it. */
export function getSafeMessage({ code, message, byUpstream, original }: Refusal['error']): string | undefined {
  return safeCodes.has(code) && !byUpstream && !original ? message : undefined;
}
