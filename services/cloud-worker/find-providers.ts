import type { Environment } from '#shared/core/load-config.ts';
import { missingVariables, providerKey } from './provider-key.ts';
import { presets } from './providers/provider-of.ts';
import type { ProviderName } from './providers/provider.ts';

/** A provider for which there is a key. */
export interface FoundProvider {
  /** What `PROVIDER` is set to for its worker. */
  name: ProviderName;
  title: string;
  /** The variable that holds the key. */
  keyVariable: string;
  /** Variables that must be set too before it can be asked; empty when it is ready. */
  missing: string[];
}

/** The providers whose usual key variables are set, ready or not. The keys themselves are not looked into. */
export function findProviders(environment: Environment): FoundProvider[] {
  return (Object.keys(presets) as (keyof typeof presets)[]).flatMap((name) => {
    const provider = presets[name];
    const found = providerKey(provider, environment);
    if (!found) return [];
    const { title } = provider;
    return [{ name, title, keyVariable: found.variable, missing: missingVariables(provider, environment) }];
  });
}
