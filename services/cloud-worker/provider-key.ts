import type { Environment } from '#shared/core/load-config.ts';
import type { Provider } from './providers/provider.ts';

/** The router's own keys. Its clients keep these in the variables that their SDKs read, which are the providers' own. */
const ownKey = /^(rtr_|user\.|team\.)/;

/** The provider's key in its usual variables, and which of them; undefined when none holds one. */
export function providerKey(
  { keyVariables }: Pick<Provider, 'keyVariables'>,
  environment: Environment,
): { variable: string; key: string } | undefined {
  for (const variable of keyVariables) {
    const key = environment[variable]?.trim();
    if (key !== undefined && key !== '' && !ownKey.test(key)) return { variable, key };
  }
  return undefined;
}

/** The variables that the provider needs besides its key and that are not set. */
export function missingVariables({ needs }: Pick<Provider, 'needs'>, environment: Environment): string[] {
  return needs.filter((variable) => (environment[variable] ?? '') === '');
}
