import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { replaceFile } from '#shared/core/replace-file.ts';
import { toFolderError, UpError } from './up-error.ts';

const port = z.number().int().min(1).max(65_535).optional();

const clusterStateSchema = z.object({
  /** Password of NATS if an earlier release runs it, see `needsCredential`. It is kept so that the earlier release can start again. */
  natsPassword: z.string().min(1),
  redisPassword: z.string().min(1),
  /** Ports of the last start. The next start uses them again if they are free. */
  ports: z.object({ nats: port, natsWebSocket: port, redis: port, admin: port, demo: port }),
  /** Host and port at which the router listened at the last start, and `PUBLIC_URL` if it was set. */
  router: z
    .object({ host: z.string().min(1), port: z.number().int().min(1).max(65_535), publicUrl: z.string().optional() })
    .optional(),
});

/** State that a cluster on one machine keeps between starts. */
export type ClusterState = z.output<typeof clusterStateSchema>;

/**
 * Reads the stored state; undefined if this folder never had a cluster.
 * @throws UpError if the file is damaged or cannot be read
 */
export function readClusterState(folder: string): ClusterState | undefined {
  let text: string;
  try {
    text = readFileSync(stateFile(folder), 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw toFolderError(error, folder, stateFile(folder));
  }
  try {
    return clusterStateSchema.parse(JSON.parse(text));
  } catch (cause) {
    // Deleting the file is safe: its passwords are only for this folder's own servers, which get new ones at the next start.
    throw new UpError(
      `${stateFile(folder)} is damaged: stop the cluster if it runs, delete the file, and start again. Keys are kept.`,
      { cause },
    );
  }
}

/** Reads the stored state. If there is none, creates a state with new passwords, but does not store it. */
export function loadClusterState(folder: string): ClusterState {
  const password = () => randomBytes(24).toString('hex');
  return readClusterState(folder) ?? { natsPassword: password(), redisPassword: password(), ports: {} };
}

export function saveClusterState(folder: string, state: ClusterState): void {
  mkdirSync(folder, { recursive: true });
  replaceFile(stateFile(folder), `${JSON.stringify(state, undefined, 2)}\n`);
}

/** Returns the folder of the authority and the credentials of the cluster in a folder. */
export function credentialsFolder(folder: string): string {
  return join(folder, 'credentials');
}

/** Whether the cluster's NATS accepts only credentials. The NATS of an earlier release has a password, and no port for WebSockets. */
export function needsCredential({ ports }: ClusterState): boolean {
  return ports.natsWebSocket !== undefined;
}

export function toLocalNatsUrl(state: ClusterState, port: number): string {
  return needsCredential(state) ? `nats://127.0.0.1:${port}` : `nats://rtr:${state.natsPassword}@127.0.0.1:${port}`;
}

export function toLocalRedisUrl({ redisPassword }: ClusterState, port: number): string {
  return `redis://:${redisPassword}@127.0.0.1:${port}`;
}

function stateFile(folder: string): string {
  return join(folder, 'cluster.json');
}
