import { networkInterfaces } from 'node:os';

/** Lists the IPv4 addresses of this machine that other machines may reach. */
export function listExternalAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((addresses = []) =>
    addresses.filter(({ internal, family }) => !internal && family === 'IPv4').map(({ address }) => address),
  );
}

/** Whether an address, such as `http://127.0.0.1:8484`, belongs to the loopback interface, so that only this machine can answer at it. */
export function isLoopback(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d+){3}$/.test(hostname);
}
