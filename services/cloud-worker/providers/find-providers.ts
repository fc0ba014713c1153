import type { Environment } from '#shared/core/load-config.ts';
import { presets } from './presets.ts';
import type { Provider, ProviderName } from './provider.ts';
import { scryptSync } from 'node:crypto';
import type { CloudWorkerConfig } from '../config.ts';

export interface FoundProvider {
  /** Value of `PROVIDER` for the provider's worker. */
  name: ProviderName;
  title: string;
  keyVariable: string;
  /** Required variables that are not set; empty if the provider is ready. */
  missing: string[];
}

/** Returns the providers whose usual key variables are set, whether or not they are ready. Does not check the keys. */
export function findProviders(environment: Environment): FoundProvider[] {
  return (Object.keys(presets) as (keyof typeof presets)[]).flatMap((name) => {
    const provider = presets[name];
    const foundKey = findProviderKey(provider, environment);
    if (!foundKey) return [];
    const { title } = provider;
    return [{ name, title, keyVariable: foundKey.variable, missing: findMissingVariables(provider, environment) }];
  });
}

/** Matches keys for the router itself, which its clients keep in the variables of the providers' SDKs. */
const routerKeyPattern = /^(rtr_|user\.|team\.)/;

/** Reads the provider's key from its usual variables. Returns undefined if none of them contains a key. */
export function findProviderKey(
  { keyVariables }: Pick<Provider, 'keyVariables'>,
  environment: Environment,
): { variable: string; key: string } | undefined {
  for (const variable of keyVariables) {
    const key = environment[variable]?.trim();
    if (key !== undefined && key !== '' && !routerKeyPattern.test(key)) return { variable, key };
  }
  return undefined;
}

/** Returns the variables that the provider needs besides the key and that are not set. */
export function findMissingVariables({ needs }: Pick<Provider, 'needs'>, environment: Environment): string[] {
  return needs.filter((variable) => (environment[variable] ?? '') === '');
}

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
