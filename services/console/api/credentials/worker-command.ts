import type { Tier } from '#shared/core/tier.ts';

/**
 * The command that starts a worker with a credential, in the folder that has its file.
 * @param natsUrl the addresses at which this process reaches NATS, with commas between them: what signs it in there is left out
 */
export function workerCommand({ name, tier }: { name: string; tier: Tier }, natsUrl: string): string {
  const addresses = natsUrl.split(',').map((address) => bare(address.trim()));
  return `npx rtr worker ${tier} --nats ${addresses.join(',')} --credentials ${name}.creds`;
}

/** An address without user, password and query. */
function bare(address: string): string {
  const { protocol, host, pathname } = new URL(address);
  return `${protocol}//${host}${pathname === '/' ? '' : pathname}`;
}
