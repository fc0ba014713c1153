import type { Tier } from '#shared/core/tier.ts';

/**
 * Returns the command that starts a worker with a credential. It is to be run in the folder that contains the credential's file.
 * @param natsUrl the addresses at which this process reaches NATS, separated by commas; their users, passwords and queries are left out
 */
export function workerCommand({ name, tier }: { name: string; tier: Tier }, natsUrl: string): string {
  const addresses = natsUrl.split(',').map((address) => withoutSecrets(address.trim()));
  return `npx rtr worker ${tier} --nats ${addresses.join(',')} --credentials ${name}.creds`;
}

/** Returns an address without user, password and query. */
function withoutSecrets(address: string): string {
  const { protocol, host, pathname } = new URL(address);
  return `${protocol}//${host}${pathname === '/' ? '' : pathname}`;
}
