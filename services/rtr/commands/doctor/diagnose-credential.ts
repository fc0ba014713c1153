import { isReloaded } from '#shared/broker/authority/authority-folder.ts';
import { connectBroker, isCredentialRefusal } from '#shared/broker/connection/connect-broker.ts';
import type { Role } from '#shared/broker/connection/credential.ts';
import { readBrokerAccess, type BrokerAccessSettings } from '#shared/broker/connection/broker-settings.ts';
import { ConfigError } from '#shared/core/load-config.ts';
import { createLog } from '#shared/core/log.ts';
import type { ClusterConfig } from '../../config.ts';
import { findClusterAddresses } from '../../up/cluster-addresses.ts';
import { credentialsFolder, readClusterState } from '../../up/cluster-state.ts';
import type { Diagnosis } from './diagnosis.ts';
import { formatDate } from '../table-lines.ts';

export interface CredentialToDiagnose extends BrokerAccessSettings {
  NATS_CREDENTIALS: string;
  /** The role for which the credential is meant, if that is known. */
  role?: Role | undefined;
}

const subject = 'credential';

/**
 * Returns the credential to check: that in the settings, otherwise, while a cluster runs from this folder, the cluster's own for the role.
 * Returns undefined if there is neither.
 * @param role default: the role of an ingress
 */
export function findCredentialToDiagnose(
  config: Pick<ClusterConfig, 'NATS_URL' | 'NATS_CREDENTIALS' | 'NATS_CA' | 'REDIS_URL'>,
  folder: string,
  role: Role | undefined,
): CredentialToDiagnose | undefined {
  const runsHere = (): boolean => isReloaded(credentialsFolder(folder)) && readClusterState(folder) !== undefined;
  if (config.NATS_URL === undefined && !runsHere()) return undefined;
  const { NATS_URL, NATS_CREDENTIALS } = findClusterAddresses(config, folder, ['NATS_URL'], role ?? 'ingress');
  return NATS_CREDENTIALS === undefined ? undefined : { NATS_URL, NATS_CREDENTIALS, NATS_CA: config.NATS_CA, role };
}

/** Checks whether a credential can be read, has the right role, has not expired, and is accepted by the broker. */
export async function diagnoseCredential({ role, ...settings }: CredentialToDiagnose): Promise<Diagnosis> {
  const reportMissing = (detail: string): Diagnosis => ({ subject, state: 'missing', detail });
  try {
    const access = readBrokerAccess(settings);
    const { credential } = access;
    if (!credential) return reportMissing('none is set');
    const nameAndRole = `${credential.name}, for ${credential.role}`;
    if (role !== undefined && role !== credential.role) return reportMissing(`${nameAndRole}: not for ${role}`);
    const { expiresAt } = credential;
    if (expiresAt !== undefined && expiresAt < Date.now())
      return reportMissing(
        `${nameAndRole}: it expired on ${formatDate(expiresAt)}: create a new one with \`rtr credentials worker\``,
      );
    const log = createLog({ service: 'rtr', level: 'silent', format: 'json' });
    const broker = await connectBroker({ ...access, name: 'rtr-doctor', prefix: credential.prefix, log, waitMs: 0 });
    await broker.close();
    const until = expiresAt === undefined ? '' : `, until ${formatDate(expiresAt)}`;
    return { subject, state: 'ok', detail: `${nameAndRole}: the broker accepts it${until}` };
  } catch (error) {
    if (error instanceof ConfigError) return reportMissing(error.message);
    if (isCredentialRefusal(error))
      return reportMissing(
        'the broker does not accept it: it was revoked, belongs to another cluster, or is shared and the servers have not read the nats-auth.conf that names it',
      );
    // A WebSocket that fails to open gives no reason.
    const reason = (error instanceof Error ? error.message : String(error)) || 'no connection';
    return reportMissing(`the broker cannot be reached with it: ${reason}`);
  }
}
