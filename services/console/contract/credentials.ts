import { z } from 'zod';
import { tiers, type Tier } from '#shared/core/tier.ts';
import { time } from './conventions.ts';

/*
 * The contract between the console's pages and its API: the credentials with which workers connect to NATS. The rules of `conventions.ts`
 * apply. Everything is for admins. An ingress without `CREDENTIALS_DIR` answers 409 `no_authority`.
 */

export const workerCredentialSchema = z
  .object({
    name: z
      .string()
      .describe(
        'Workers with the credential are called `<name>.<worker>`. No other valid credential has the same name.',
      ),
    tier: z.enum(tiers),
    issuedAt: time,
    expiresAt: time.exactOptional().describe('Absent: the credential is valid until it is revoked.'),
    revokedAt: time.exactOptional(),
  })
  .meta({ id: 'WorkerCredential' });

/** `GET /worker-credentials`: every credential that was ever made, oldest first. Contains no secret. */
export type WorkerCredential = z.output<typeof workerCredentialSchema>;

export const createdWorkerCredentialSchema = z
  .object({
    credential: workerCredentialSchema,
    text: z.string().describe('The content of the credential file, a secret. It is shown only this once.'),
    command: z
      .string()
      .describe(
        'The command that starts a worker in a folder with a file `<name>.creds` of that content. It contains the address at which this ingress reaches NATS.',
      ),
  })
  .meta({ id: 'CreatedWorkerCredential' });

/** The answer of `POST /worker-credentials` with a NewWorkerCredential. */
export type CreatedWorkerCredential = z.output<typeof createdWorkerCredentialSchema>;

/** Without `expiresInDays` the credential is valid until it is revoked. */
export interface NewWorkerCredential {
  name: string;
  tier: Tier;
  expiresInDays?: number;
}

export const revokedWorkerCredentialSchema = z
  .object({
    credential: workerCredentialSchema,
    instruction: z
      .string()
      .exactOptional()
      .describe(
        'What a person still has to do so that the NATS servers refuse the credential. Absent if the router reloads its NATS server itself.',
      ),
  })
  .meta({ id: 'RevokedWorkerCredential' });

/** The answer of `DELETE /worker-credentials/<name>`. */
export type RevokedWorkerCredential = z.output<typeof revokedWorkerCredentialSchema>;
