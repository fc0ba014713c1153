import { once } from 'node:events';
import { createServer } from 'node:net';

export async function isPortFree(port: number, host: string): Promise<boolean> {
  return (await listenBriefly(port, host)) !== undefined;
}

/** Returns a free TCP port of the loopback interface. Another program may bind it before the caller does. */
export async function findFreePort(): Promise<number> {
  const port = await listenBriefly(0, '127.0.0.1');
  if (port === undefined) throw new Error('there is no free port on 127.0.0.1');
  return port;
}

/** Returns the wanted port of the loopback interface if it is free, otherwise another free port. */
export async function chooseFreePort(wanted: number | undefined): Promise<number> {
  return wanted !== undefined && (await isPortFree(wanted, '127.0.0.1')) ? wanted : findFreePort();
}

async function listenBriefly(port: number, host: string): Promise<number | undefined> {
  const server = createServer();
  try {
    server.listen({ port, host, exclusive: true });
    await once(server, 'listening');
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'EADDRINUSE' || error.code === 'EACCES')) {
      return undefined;
    }
    throw error;
  }
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address ? address.port : undefined;
}
