import { z } from 'zod';
import type { Authority, IssuedCredential } from '#shared/broker/authority/authority.ts';
import {
  changeAuthority,
  formatReloadNotice,
  isReloaded,
  readAuthority,
} from '#shared/broker/authority/authority-folder.ts';
import { isValid, revokeCredentials } from '#shared/broker/authority/credentials.ts';
import { buildServerConfigInThread, issueCredentialInThread } from '#shared/broker/authority/run-signing-thread.ts';
import { tiers, type Tier } from '#shared/core/tier.ts';
import {
  createdWorkerCredentialSchema,
  revokedWorkerCredentialSchema,
  workerCredentialSchema,
  type WorkerCredential,
} from '../../contract/credentials.ts';
import type { Actor } from '../actor.ts';
import { ApiFailure } from '../api-failure.ts';
import { writeAudit } from '../api-parts.ts';
import { listOperation, operation, type Operation } from '../operations/operation.ts';
import { cutPage, formatTimedCursor, type Order } from '../operations/page.ts';
import { createNameInUseError, credentialName, requireAuthority, type CredentialParts } from './require-authority.ts';

const dayMs = 24 * 3_600_000;

const newCredential = z.strictObject({
  name: credentialName,
  tier: z.enum(tiers),
  expiresInDays: z
    .number()
    .int()
    .min(1)
    .max(3_660)
    .optional()
    .describe('Absent: the credential is valid until it is revoked.'),
});

/** A credential of a worker. This API excludes the credentials of ingress nodes and batch runners. */
type IssuedToWorker = IssuedCredential & { role: Tier };

const byIssueTime: Order<WorkerCredential> = {
  // A machine that joins gets the credentials of its tiers at one time.
  cursorOf: ({ issuedAt, name, tier }) => formatTimedCursor(issuedAt, `${name}.${tier}`),
  form: /^\d{16}\../s,
};

export function credentialOperations(parts: CredentialParts): Operation[] {
  return [
    listOperation({
      path: '/worker-credentials',
      id: 'listWorkerCredentials',
      subject: 'workers',
      summary: 'Lists the credentials of workers, including revoked ones. Oldest first.',
      scopes: ['read'],
      command: 'credentials list',
      item: workerCredentialSchema,
      handle: async ({ actor }, page) => {
        const { folder } = requireAuthority(parts, actor);
        const credentials = readAuthority(folder).issued.filter(isWorkerCredential).map(toAnswer);
        return cutPage(credentials, page, byIssueTime);
      },
    }),
    operation({
      method: 'post',
      path: '/worker-credentials',
      id: 'createWorkerCredential',
      subject: 'workers',
      summary: 'Makes a credential with which workers of a tier join. Only this response contains the credential.',
      scopes: [],
      command: 'credentials worker',
      body: newCredential,
      answer: createdWorkerCredentialSchema,
      statuses: [201],
      handle: async ({ actor, body: { name, tier, expiresInDays } }) => {
        const { folder, natsUrl } = requireAuthority(parts, actor);
        const validMs = expiresInDays === undefined ? undefined : expiresInDays * dayMs;
        // The credential is recorded before it is sent, because an unrecorded credential cannot be revoked.
        const { text, issued } = await changeAuthority(folder, async (authority) => {
          const now = Date.now();
          if (authority.issued.some((other) => other.name === name && isValid(other, now)))
            throw createNameInUseError(name);
          const made = await issueCredentialInThread(authority, { role: tier, name, validMs });
          authority.issued.push(made.issued);
          return made;
        });
        const credential = toAnswer({ ...issued, role: tier });
        await auditCredential('credential.create', actor, credential);
        return { credential, text, command: formatWorkerCommand(credential, natsUrl) };
      },
    }),
    operation({
      method: 'delete',
      path: '/worker-credentials/{name}',
      id: 'revokeWorkerCredential',
      subject: 'workers',
      summary:
        'Revokes a credential. NATS servers refuse it once they are reloaded with the new `nats-auth.conf`; the NATS server of `rtr up` does so within a second.',
      scopes: [],
      command: 'credentials revoke',
      answer: revokedWorkerCredentialSchema,
      handle: async ({ actor, params: { name } }) => {
        const { folder } = requireAuthority(parts, actor);
        const revoke = (authority: Authority): IssuedToWorker => {
          const revokedCredentials = revokeCredentials(
            authority,
            (issued) => issued.name === name && isWorkerCredential(issued),
          );
          const newest = revokedCredentials.findLast(isWorkerCredential);
          if (!newest) throw new ApiFailure(404, 'not_found', `There is no credential named ${name} to revoke.`);
          return newest;
        };
        const revoked = await changeAuthority(folder, revoke, buildServerConfigInThread);
        const credential = toAnswer(revoked);
        await auditCredential('credential.revoke', actor, credential);
        return isReloaded(folder)
          ? { credential }
          : { credential, instruction: formatReloadNotice(folder, `${name} is revoked`) };
      },
    }),
  ];

  function auditCredential(action: string, actor: Actor, { name, tier, expiresAt }: WorkerCredential): Promise<void> {
    const target = { kind: 'credential', id: name, name };
    return writeAudit(parts, actor, { action, target, details: { tier, expiresAt } });
  }
}

function isWorkerCredential(credential: IssuedCredential): credential is IssuedToWorker {
  return tiers.some((tier) => tier === credential.role);
}

function toAnswer({ name, role, issuedAt, expiresAt, revokedAt }: IssuedToWorker): WorkerCredential {
  return {
    name,
    tier: role,
    issuedAt,
    ...(expiresAt !== undefined && { expiresAt }),
    ...(revokedAt !== undefined && { revokedAt }),
  };
}

/**
 * Returns the command that starts a worker with a credential. The command must run in the folder that contains the credential's file.
 * @param natsUrl the addresses at which this process reaches NATS, separated by commas; the command leaves out users, passwords and queries
 */
function formatWorkerCommand({ name, tier }: { name: string; tier: Tier }, natsUrl: string): string {
  const addresses = natsUrl.split(',').map((address) => removeSecrets(address.trim()));
  return `rtr worker ${tier} --nats ${addresses.join(',')} --credentials ${name}.creds`;
}

function removeSecrets(address: string): string {
  const { protocol, host, pathname } = new URL(address);
  return `${protocol}//${host}${pathname === '/' ? '' : pathname}`;
}
