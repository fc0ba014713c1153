import { connectBroker, isRefusal } from '#shared/broker/connection/connect-broker.ts';
import type { Role } from '#shared/broker/connection/credential.ts';
import { readBrokerAccess, type BrokerAccessSettings } from '#shared/broker/connection/read-broker-access.ts';
import { ConfigError } from '#shared/core/load-config.ts';
import { createLog } from '#shared/core/log.ts';
import type { Diagnosis } from './diagnosis.ts';
import { dateOf } from '../date-of.ts';

export interface CredentialQuestion extends BrokerAccessSettings {
  NATS_CREDENTIALS: string;
  /** What it is to be used for, when that is known. */
  role?: Role | undefined;
}

const subject = 'credential';

/** Looks at a credential: whether it can be read, whom it is for, whether it is still valid, and whether the broker takes it. */
export async function diagnoseCredential({ role, ...settings }: CredentialQuestion): Promise<Diagnosis> {
  const wrong = (told: string): Diagnosis => ({ subject, state: 'missing', told });
  try {
    const access = readBrokerAccess(settings);
    const { credential } = access;
    if (!credential) return wrong('none is given');
    const whose = `${credential.owner}, for ${credential.role}`;
    if (role !== undefined && role !== credential.role) return wrong(`${whose}: not for ${role}`);
    const { expiresAt } = credential;
    if (expiresAt !== undefined && expiresAt < Date.now())
      return wrong(`${whose}: it expired on ${dateOf(expiresAt)}, so that a new one has to be made`);
    const log = createLog({ service: 'rtr', level: 'silent', format: 'json' });
    const broker = await connectBroker({ ...access, name: 'rtr-doctor', prefix: credential.prefix, log, waitMs: 0 });
    await broker.close();
    const until = expiresAt === undefined ? '' : `, until ${dateOf(expiresAt)}`;
    return { subject, state: 'ok', told: `${whose}: the broker accepts it${until}` };
  } catch (error) {
    if (error instanceof ConfigError) return wrong(error.message);
    if (isRefusal(error))
      return wrong(
        'the broker does not accept it: it was revoked, or its cluster is another one than the broker serves',
      );
    // A WebSocket that is not opened does not say why.
    const reason = (error instanceof Error ? error.message : String(error)) || 'no connection';
    return wrong(`the broker cannot be reached with it: ${reason}`);
  }
}
