import { ConfigError, type Environment } from '#shared/core/load-config.ts';
import { version } from '#shared/core/version.ts';
import { UpstreamHttp, type UpstreamHttpOptions } from '#shared/upstream/upstream-http.ts';
import type { CloudWorkerConfig } from '../config.ts';
import { findMissingVariables, findProviderKey } from './find-providers.ts';
import { keyHeader, type Provider } from './provider.ts';

type ConnectConfig = Pick<CloudWorkerConfig, 'PROVIDER_URL' | 'PROVIDER_KEY' | 'PROVIDER_KEY_HEADER' | 'SLOTS'>;

/** Maximum milliseconds for a connection to the provider. */
const connectTimeoutMs = 5_000;

/**
 * Opens the connections to a provider, with the operator's key in every request. No input of a client influences the URL of a request, and
 * redirects are not followed.
 * @throws ConfigError that names the missing variables
 */
export function connectProvider(
  provider: Provider,
  config: ConnectConfig,
  environment: Environment,
  onOver?: UpstreamHttpOptions['onOver'],
): UpstreamHttp {
  const { title, keyVariables, keyless } = provider;
  const key = config.PROVIDER_KEY ?? findProviderKey(provider, environment)?.key;
  if (key === undefined && keyVariables.length > 0 && keyless !== true) {
    throw new ConfigError(`There is no key for ${title}: set ${keyVariables.join(' or ')}, or PROVIDER_KEY.`);
  }
  const missing = config.PROVIDER_URL === undefined ? findMissingVariables(provider, environment) : [];
  if (missing.length > 0) throw new ConfigError(`${title} cannot be reached: set ${missing.join(' and ')}.`);
  const { PROVIDER_KEY_HEADER: header } = config;
  const authorization = (header === undefined ? provider.authorize : keyHeader(header.toLowerCase()))(key);
  const common = {
    'content-type': 'application/json',
    'user-agent': `model-router/${version}`,
    ...provider.format.headers,
  };
  return new UpstreamHttp({
    url: config.PROVIDER_URL ?? provider.url(environment),
    connections: config.SLOTS,
    connectTimeoutMs,
    headers: async () => ({ ...common, ...(await authorization()) }),
    allowH2: true,
    onOver,
  });
}
