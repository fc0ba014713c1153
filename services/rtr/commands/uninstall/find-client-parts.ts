import { rmSync } from 'node:fs';
import { ClientError } from '../../client/lib/client-error.mjs';
import { logout } from '../../client/lib/commands/logout.mjs';
import { findWrittenSettings } from '../../client/lib/programs/find-written-settings.mjs';
import { ensureConfigFolder } from '../../client/lib/store/config-folder.mjs';
import { deleteSignIn, listRouters } from '../../client/lib/store/sign-ins.mjs';
import type { RemovablePart } from './find-data-folder.ts';

/** Returns the settings that `rtr env --write` has made in programs, and the sign-ins of `rtr login`, in the order of their removal. */
export function findClientParts(): RemovablePart[] {
  const settings = findWrittenSettings().map(({ file, undo }) => ({
    description: `the settings of the router in ${file}; everything else in it stays`,
    remove: undo,
  }));
  const signIns = findRouters().map((router) => ({
    description: `the sign-in to ${router}`,
    remove: () => signOut(router),
  }));
  return [...settings, ...signIns];
}

/** Removes the folder in which the client keeps what it needs for sign-ins. */
export function removeConfigFolder(): void {
  rmSync(ensureConfigFolder(), { recursive: true, force: true });
}

function findRouters(): string[] {
  try {
    return listRouters();
  } catch (error) {
    // A damaged list names no router. Its file is removed with the folder.
    if (error instanceof ClientError) return [];
    throw error;
  }
}

/** Signs out of a router, and deletes the sign-in here even if its tokens cannot be read. */
async function signOut(router: string): Promise<void> {
  try {
    await logout(router);
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    deleteSignIn(router);
  }
}
