import { agentSessionOperations } from './agent-sessions/agent-session-operations.ts';
import type { AgentSessionParts } from './agent-sessions/agent-session-answers.ts';
import type { ApiParts } from './api-parts.ts';
import { auditOperations } from './audit/audit-operations.ts';
import { backgroundOperations, type BackgroundParts } from './background/background-operations.ts';
import { batchOperations, type BatchParts } from './batches/batch-operations.ts';
import { boxInvitationOperations } from './credentials/box-invitation-operations.ts';
import { credentialOperations } from './credentials/credential-operations.ts';
import type { BoxInvitationParts } from './credentials/require-authority.ts';
import { fileOperations, type FileParts } from './files/file-operations.ts';
import { keyOperations } from './keys/key-operations.ts';
import type { Operation } from './operations/operation.ts';
import { invitationOperations } from './people/invitation-operations.ts';
import { personOperations } from './people/person-operations.ts';
import { teamMemberOperations } from './people/team-member-operations.ts';
import { teamOperations } from './people/team-operations.ts';
import { userOperations } from './people/user-operations.ts';
import { recordingOperations } from './recordings/recording-operations.ts';
import { registryOperations, type RegistryParts } from './registry/registry-operations.ts';
import { settingsOperations } from './settings-operations.ts';
import { tokenOperations } from './tokens/token-operations.ts';
import type { UsageParts } from './usage/usage-parts.ts';
import { usageOperations } from './usage/usage-operations.ts';
import { webhookOperations, type WebhookParts } from './webhooks/webhook-operations.ts';
import { workerOperations, type WorkerOperationsParts } from './worker-operations.ts';

/** What the operations run on. */
export interface OperationParts {
  account: ApiParts;
  usage: UsageParts;
  agentSessions: AgentSessionParts;
  workers: WorkerOperationsParts;
  credentials: BoxInvitationParts;
  registry: RegistryParts;
  webhooks: WebhookParts;
  batches: BatchParts;
  files: FileParts;
  background: BackgroundParts;
}

export function accountOperations(parts: ApiParts): Operation[] {
  return [
    ...userOperations(parts),
    ...personOperations(parts),
    ...teamOperations(parts),
    ...teamMemberOperations(parts),
    ...invitationOperations(parts),
    ...keyOperations(parts),
    ...auditOperations(parts),
    ...settingsOperations(parts),
    ...tokenOperations(parts),
  ];
}

/** Creates all operations, in the order in which the document and the commands list them. */
export function createOperations(parts: OperationParts): Operation[] {
  return [
    ...accountOperations(parts.account),
    ...usageOperations(parts.usage),
    ...agentSessionOperations(parts.agentSessions),
    ...recordingOperations(parts.account),
    ...workerOperations(parts.workers),
    ...boxInvitationOperations(parts.credentials),
    ...credentialOperations(parts.credentials),
    ...registryOperations(parts.registry),
    ...webhookOperations(parts.webhooks),
    ...batchOperations(parts.batches),
    ...fileOperations(parts.files),
    ...backgroundOperations(parts.background),
  ];
}

/** Returns all operations without what they run on. They describe themselves, and cannot be run. */
export function describeOperations(): Operation[] {
  const missing: object = new Proxy({}, { get: () => missing });
  return createOperations(missing as OperationParts);
}
