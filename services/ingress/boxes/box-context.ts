import type { z } from 'zod';
import type { Accounts } from '#shared/accounts/accounts.ts';
import type { BoxTry } from '#shared/accounts/sign-in/sign-in-guard.ts';
import type { IngressContext } from '../context.ts';
import { BoxRefusal } from './box-refusal.ts';

/** What the requests of boxes use of an ingress. */
export type BoxContext = Pick<IngressContext, 'config' | 'arrivingBodies' | 'log' | 'authorityFolder'> & {
  serving: Pick<IngressContext['serving'], 'store'> & {
    accounts: Pick<Accounts, 'boxInvitations' | 'signInGuard'>;
    registry: Pick<IngressContext['serving']['registry'], 'current'>;
  };
};

/** @throws BoxRefusal 409 if the ingress has no folder of an authority */
export function requireFolder(folder: string | undefined): string {
  if (folder !== undefined) return folder;
  throw new BoxRefusal(409, 'no_authority', 'This router lets no boxes join: CREDENTIALS_DIR is not set.');
}

/** @throws BoxRefusal 400 that names the first invalid field */
export function parseBody<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  const { data, error } = schema.safeParse(body);
  if (!error) return data;
  const field = error.issues[0]?.path.join('.') ?? '';
  const message = field === '' ? 'Send an object in JSON.' : `\`${field}\` is missing or not valid.`;
  throw new BoxRefusal(400, 'invalid_request', message);
}

/**
 * Counts a request of a box for its address.
 * @throws BoxRefusal 429 if the address was refused too often
 */
export async function countBoxTry(
  guard: Pick<Accounts['signInGuard'], 'takeBoxTry'>,
  address: string,
  kind: BoxTry,
): Promise<void> {
  const { waitMs } = await guard.takeBoxTry(address, kind);
  if (waitMs === 0) return;
  const seconds = Math.ceil(waitMs / 1_000);
  const message = `Too many requests of machines from this address were refused. Try again in ${Math.ceil(seconds / 60)} minutes.`;
  throw new BoxRefusal(429, 'rate_limit_exceeded', message, seconds);
}
