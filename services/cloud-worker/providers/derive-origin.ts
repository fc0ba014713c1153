import { scryptSync } from 'node:crypto';
import type { Environment } from '#shared/core/load-config.ts';
import type { CloudWorkerConfig } from '../config.ts';
import { findProviderKey } from './find-providers.ts';
import type { Provider } from './provider.ts';

/** Number of bytes of an origin, which are enough to distinguish upstreams. */
const originBytes = 9;

/**
 * Returns an identifier of the provider and the operator's account there, see `AnswerContext.origin`. Workers with the same URL and key
 * have the same origin. Clients see the origin, so it is derived with scrypt, which makes guesses at a weak key expensive. Returns
 * undefined for a provider that accepts the thinking of all its accounts.
 */
export function deriveOrigin(
  provider: Provider,
  config: Pick<CloudWorkerConfig, 'PROVIDER_URL' | 'PROVIDER_KEY'>,
  environment: Environment,
): string | undefined {
  const url = config.PROVIDER_URL ?? provider.url(environment);
  if (provider.takesAnyThinking === true && url === provider.url(environment)) return undefined;
  const key = config.PROVIDER_KEY ?? findProviderKey(provider, environment)?.key;
  return scryptSync(JSON.stringify([url, key ?? '']), 'rtr', originBytes).toString('base64url');
}
