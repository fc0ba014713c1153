import type { Tier } from '#shared/core/tier.ts';

/**
 * Returns the command that starts a worker with a credential. The command must run in the folder that contains the credential's file.
 * @param natsUrl the addresses at which this process reaches NATS, separated by commas; the command leaves out users, passwords and queries
 */
export function formatWorkerCommand({ name, tier }: { name: string; tier: Tier }, natsUrl: string): string {
  const addresses = natsUrl.split(',').map((address) => removeSecrets(address.trim()));
  return `npx rtr worker ${tier} --nats ${addresses.join(',')} --credentials ${name}.creds`;
}

function removeSecrets(address: string): string {
  const { protocol, host, pathname } = new URL(address);
  return `${protocol}//${host}${pathname === '/' ? '' : pathname}`;
}
