import { join } from 'node:path';
import type { Role } from '#shared/broker/connection/credential.ts';
import { ownCredentialFile } from '#shared/broker/authority/own-credentials.ts';
import { isInstalledPackage } from '#shared/core/installed-package.mjs';
import type { Environment } from '#shared/core/load-config.ts';
import type { NatsAccess, Servers } from './servers/start-servers.ts';

/** The services of a cluster, and the roles of those that connect to NATS. */
const serviceRoles = {
  ingress: 'ingress',
  'batch-runner': 'runner',
  'gpu-worker': 'gpu',
  'cli-worker': 'cli',
  'cloud-worker': 'cloud',
  'tools-worker': 'tools',
  'demo-engine': undefined,
} as const satisfies Record<string, Role | undefined>;

export type ServiceName = keyof typeof serviceRoles;

/**
 * Builds the environment variables that connect a service to the servers of its cluster.
 * @param environment the variables of `rtr up`, which the service gets, too
 */
export function buildServiceEnvironment(
  service: ServiceName,
  environment: Environment,
  { natsUrl, redisUrl, natsAccess }: Servers,
  prefix: string,
): Environment {
  const role = serviceRoles[service];
  return {
    ...environment,
    NATS_URL: natsUrl,
    REDIS_URL: redisUrl,
    RTR_PREFIX: prefix,
    // `rtr up` has already read the files that the `_FILE` variables name. A credential is for one component only.
    NATS_URL_FILE: undefined,
    REDIS_URL_FILE: undefined,
    RTR_PREFIX_FILE: undefined,
    NATS_CREDENTIALS: undefined,
    // The log relay formats the lines.
    LOG_FORMAT: 'json',
    // The port in the settings is for the ingress. Workers choose free ports.
    ADMIN_PORT: undefined,
    // Metrics stay on this machine, whatever an image or an operator sets for parts that run alone.
    ADMIN_HOST: undefined,
    ADMIN_HOST_FILE: undefined,
    ...(natsAccess && role && buildNatsEnvironment(role, natsAccess)),
  };
}

function buildNatsEnvironment(role: Role, { folder, webSocketUrl }: NatsAccess): Environment {
  return {
    NATS_CREDENTIALS: ownCredentialFile(folder, role),
    NATS_CREDENTIALS_FILE: undefined,
    // The connection stays on this machine, and has no TLS.
    NATS_CA: undefined,
    NATS_CA_FILE: undefined,
    ...(role === 'ingress' && {
      CREDENTIALS_DIR: folder,
      CREDENTIALS_DIR_FILE: undefined,
      NATS_RELAY_URL: webSocketUrl,
      NATS_RELAY_URL_FILE: undefined,
    }),
  };
}

/**
 * Returns the file of a service's program: in a checkout its source, in an installed package the built one, because Node strips no types
 * below `node_modules`.
 * @param root folder of the project
 * @param service such as `gpu-worker`
 */
export function findServiceProgram(root: string, service: string): string {
  return isInstalledPackage(root) ? join(root, 'dist', `${service}.mjs`) : join(root, 'services', service, 'main.ts');
}
