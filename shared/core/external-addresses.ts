import { networkInterfaces } from 'node:os';

/** Lists the IPv4 addresses of this machine that other machines may reach. */
export function listExternalAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((addresses = []) =>
    addresses.filter(({ internal, family }) => !internal && family === 'IPv4').map(({ address }) => address),
  );
}
