import { emailSchema, hasConfirmedEmail, type UserRecord } from '#shared/accounts/people/user.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { KeyCommandContext } from './key-command.ts';
import { readCommandLine } from './admin/command-line-token.ts';

/**
 * `rtr admin link [--email <address>] [--reset-second-factor]`: prints a one-time link. While there is no administrator, the link makes its
 * user the first administrator. Otherwise the link sets a new password for an existing user, and ends all sign-in sessions of that user.
 * The link requires the second factor of that user, unless `--reset-second-factor` removes the second factor now.
 * @param email the address or the id of the user; default: the only administrator
 * @throws RouterError `not_found` for an unknown address
 * @throws RouterError `invalid_request` if the user is blocked, if the address of the user is not confirmed, or if there are several
 * administrators and no address is given
 */
export async function printAdminLink(
  context: KeyCommandContext,
  { email, resetSecondFactor = false }: { email?: string; resetSecondFactor?: boolean },
): Promise<string> {
  const { accounts, consoleUrl, print, json } = context;
  const token = await accounts.links.issueFirstAdmin();
  if (token !== undefined) {
    const link = toConsoleLink(consoleUrl, token);
    print(
      json
        ? JSON.stringify({ kind: 'first-admin', link })
        : `Open this link within 24 hours to become the first administrator: ${link}`,
    );
    return link;
  }
  const user = email === undefined ? await requireOnlyAdmin(context) : await requireUser(context, email);
  if (user.blockedAt !== undefined) {
    throw new RouterError(
      'invalid_request',
      `${user.email} is blocked: an administrator must unblock this user first.`,
    );
  }
  if (resetSecondFactor) await accounts.links.removeSecondFactor(user.id);
  const link = toConsoleLink(consoleUrl, await accounts.links.issuePassword(user.id));
  const target = { kind: 'user', id: user.id, name: user.name };
  await accounts.audit.add({
    actor: null,
    action: 'user.password-link',
    target,
    details: { resetSecondFactor },
    from: readCommandLine(),
  });
  print(
    json
      ? JSON.stringify({ kind: 'password', email: user.email, link })
      : `Open this link within 24 hours to set a new password for ${user.email}: ${link}`,
  );
  return link;
}

async function requireOnlyAdmin({ accounts: { users } }: KeyCommandContext): Promise<UserRecord> {
  const admins = (await users.list()).filter(({ role, blockedAt }) => role === 'admin' && blockedAt === undefined);
  const [admin] = admins;
  if (admin && admins.length === 1) return admin;
  const addresses = admins
    .map(({ email }) => email)
    .toSorted()
    .join(', ');
  throw new RouterError('invalid_request', `Name the user with --email. The administrators are ${addresses}.`);
}

async function requireUser({ accounts: { users } }: KeyCommandContext, email: string): Promise<UserRecord> {
  const address = emailSchema.safeParse(email).data;
  const user = address === undefined ? await users.find(email) : await users.findByEmail(address);
  if (!user) throw new RouterError('not_found', 'No user has this email address.');
  if (address === undefined || hasConfirmedEmail(user)) return user;
  const { id } = user;
  const message = `The person with the address ${address} has typed it in, and nobody has confirmed that it is theirs. Make sure who it is, then confirm it: rtr users rename ${id} --email ${address}. Or name them by this id: --email ${id}.`;
  throw new RouterError('invalid_request', message);
}

/**
 * Returns the URL of a one-time link.
 * @param consoleUrl address at which people reach the router, such as `https://llm.example.com`
 */
export function toConsoleLink(consoleUrl: string, token: string): string {
  return new URL(`/link/${token}`, consoleUrl).href;
}
