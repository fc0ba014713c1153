import { isLoopback, listExternalAddresses } from '#shared/core/own-addresses.ts';

/** The parts of the settings that say where a router listens. */
interface Listening {
  HOST: string;
  PORT: number;
  PUBLIC_URL?: string | undefined;
}

const allInterfaces: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

/** Returns the settings of a router that other machines reach: on all interfaces, unless `HOST` is already beyond this machine. */
export function exposeHost<Config extends Listening>(config: Config): Config {
  return isLoopback(toUrl(config)) ? { ...config, HOST: '0.0.0.0' } : config;
}

/**
 * Describes what of an exposed router is reachable by whom.
 * @param isSelfSigned whether the router made its certificate itself
 * @param addresses the addresses of this machine that other machines may reach
 */
export function describeExposure(
  config: Listening,
  isSelfSigned: boolean,
  addresses = listExternalAddresses(),
): string {
  const [host = '<address of this machine>'] = allInterfaces.has(config.HOST) ? addresses : [config.HOST];
  const url = config.PUBLIC_URL ?? toUrl({ ...config, HOST: host });
  const lines = [
    `Other machines reach this router at ${url}: clients with a key, people with an account, and boxes with an invitation.`,
    'Its metrics, and the NATS and Redis that it runs, stay on this machine.',
    ...(isSelfSigned
      ? [
          'The router has made its certificate itself: boxes check its fingerprint, browsers warn, and programs must be told to trust it',
          '(NODE_EXTRA_CA_CERTS, SSL_CERT_FILE) or be given an http:// address, in a network that you trust.',
        ]
      : []),
  ];
  return `${lines.join('\n')}\n`;
}

function toUrl({ HOST: host, PORT: port }: Listening): string {
  return `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
