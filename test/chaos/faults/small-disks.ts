import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Size of each disk: room for some ten minutes of load. Redis rewrites its file when it has doubled. */
const size = '96m';

const script = `
folder="$1"; shift
for name; do mkdir -p "$folder/$name" && mount -t tmpfs -o "size=${size}" none "$folder/$name" || exit 1; done
echo ready
exec cat`;

/**
 * Creates small file systems in memory, to which programs write and which a test fills, in a mount namespace of their own, which ends with this process. Programs that restart find their files again.
 * @param folder folder of the disks, inside the namespace
 * @returns undefined where the system permits no namespaces
 */
export async function startSmallDisks(folder: string, names: readonly string[]) {
  const args = ['--user', '--map-root-user', '--mount', 'sh', '-c', script, 'disks', folder, ...names];
  const keeper = spawn('unshare', args, { stdio: ['pipe', 'pipe', 'ignore'] });
  const failed = Promise.withResolvers<void>();
  keeper.once('error', () => failed.resolve());
  keeper.once('exit', () => failed.resolve());
  const isReady = await Promise.race([once(keeper.stdout, 'data').then(() => true), failed.promise.then(() => false)]);
  if (!isReady) return undefined;
  const filler = (name: string): string => join(`/proc/${keeper.pid}/root`, folder, name, 'filler');
  return {
    /** A command with arguments that starts a program with access to these disks. */
    enter: ['nsenter', '--preserve-credentials', '--user', '--mount', `--target=${keeper.pid}`],
    /** Returns the folder of a disk, for programs that were started so. */
    folderOf: (name: string) => join(folder, name),
    /** Writes until nothing more fits. */
    fill: (name: string) => fill(filler(name)),
    empty: (name: string) => rm(filler(name)),
    /** Removes the disks, once the programs have ended. */
    stop: () => void keeper.kill(),
  };
}

async function fill(path: string): Promise<void> {
  const file = await open(path, 'w');
  try {
    // In ever smaller pieces, so that not a byte is left.
    for (let piece = Buffer.alloc(1 << 20); piece.length > 0; piece = piece.subarray(0, piece.length >> 1)) {
      while (await fits(file.write(piece)));
    }
  } finally {
    await file.close();
  }
}

async function fits(writing: Promise<unknown>): Promise<boolean> {
  try {
    await writing;
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOSPC') return false;
    throw error;
  }
}
