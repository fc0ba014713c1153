import type { z } from 'zod';
import type { Accounts } from '#shared/accounts/accounts.ts';
import type { IngressContext } from '../context.ts';
import { BoxError } from './box-error.ts';

/** What the requests of boxes use of an ingress. */
export type BoxContext = Pick<IngressContext, 'config' | 'arrivingBodies' | 'log' | 'authorityFolder'> & {
  serving: Pick<IngressContext['serving'], 'store'> & {
    accounts: Pick<Accounts, 'boxInvitations' | 'signInGuard'>;
    registry: Pick<IngressContext['serving']['registry'], 'current'>;
  };
};

/** @throws BoxError 409 if the ingress has no folder of an authority */
export function requireFolder(folder: string | undefined): string {
  if (folder !== undefined) return folder;
  throw new BoxError(409, 'no_authority', 'This router lets no boxes join: CREDENTIALS_DIR is not set.');
}

/** @throws BoxError 400 that names the first invalid field */
export function parseBody<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  const { data, error } = schema.safeParse(body);
  if (!error) return data;
  const field = error.issues[0]?.path.join('.') ?? '';
  const message = field === '' ? 'Send an object in JSON.' : `\`${field}\` is missing or not valid.`;
  throw new BoxError(400, 'invalid_request', message);
}

/**
 * Counts a refusal of an address.
 * @throws BoxError 429 if the address was refused too often
 */
export async function refuseAddress(guard: Pick<Accounts['signInGuard'], 'takeJoin'>, address: string): Promise<void> {
  const { waitMs } = await guard.takeJoin(address);
  if (waitMs === 0) return;
  const seconds = Math.ceil(waitMs / 1_000);
  const message = `Too many requests of machines from this address were refused. Try again in ${Math.ceil(seconds / 60)} minutes.`;
  throw new BoxError(429, 'rate_limit_exceeded', message, seconds);
}
