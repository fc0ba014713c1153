import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Server } from 'node:http';

/** The used part of the library, which has no types of its own. */
interface S3Server {
  httpServer: Server;
  run(): Promise<AddressInfo>;
  close(): Promise<void>;
}
interface S3ServerOptions {
  address: string;
  port: number;
  silent: boolean;
  /** Whether requests are accepted whose signature it computes differently: it does not support parts with unsigned content. */
  allowMismatchedSignatures: boolean;
  directory: string;
  configureBuckets: { name: string }[];
}

const bucket = 'files';
/** The only key that the library accepts. */
const key = 'S3RVER';

/** Starts the server in this process. Call its `stop` in `onTestFinished` or `afterAll`. */
export async function startS3() {
  // Loaded only where it is used: loading the library takes a second.
  const S3rver = createRequire(import.meta.url)('@20minutes/s3rver') as new (options: S3ServerOptions) => S3Server;
  const folder = mkdtempSync(join(tmpdir(), 'rtr-test-s3-'));
  const options = { address: '127.0.0.1', port: 0, silent: true, allowMismatchedSignatures: true, directory: folder };
  const server = new S3rver({ ...options, configureBuckets: [{ name: bucket }] });
  const { port } = await server.run();
  const endpoint = `http://127.0.0.1:${port}`;
  const credentials = { accessKeyId: key, secretAccessKey: key };
  return {
    access: { bucket, folder: 'test/', region: 'us-east-1', endpoint, credentials },
    /** The settings of a service that uses it. */
    settings: {
      FILES_S3_BUCKET: bucket,
      FILES_S3_ENDPOINT: endpoint,
      FILES_S3_ACCESS_KEY_ID: key,
      FILES_S3_SECRET_ACCESS_KEY: key,
    },
    folder,
    stop: async () => {
      server.httpServer.closeAllConnections();
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** An S3 server with one bucket, stored in a temporary folder. */
export type TestS3 = Awaited<ReturnType<typeof startS3>>;

/** Returns the names of all objects, without those of unfinished uploads. The server stores the content of each in a file of its own. */
export function objectsIn({ folder }: Pick<TestS3, 'folder'>): string[] {
  const names = readdirSync(join(folder, bucket), { recursive: true }).map(String);
  return names.filter((name) => name.endsWith('._S3rver_object')).toSorted();
}
