import type { BatchWork } from '#shared/accounts/batches/batch-work.ts';
import type { Files } from '#shared/files/files.ts';

export interface ReleaseParts {
  batches: Pick<BatchWork, 'release'>;
  files: Pick<Files, 'removeReleased'>;
}

/** Releases all objects of a batch that is over or unknown, and removes the objects that no file and no other batch uses. */
export async function releaseObjects({ batches, files }: ReleaseParts, batch: string): Promise<void> {
  for (let remaining = 1; remaining > 0;) {
    const { objects, left } = await batches.release(batch);
    await files.removeReleased(objects);
    remaining = left;
  }
}
