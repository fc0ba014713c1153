import { rmSync } from 'node:fs';
import { signText } from '#shared/broker/connection/user-key.ts';
import { BoxError } from './box-error.ts';
import { readBoxState, type JoinedBox } from './box-state.ts';
import { callRouter } from './call-router.ts';

/**
 * Tells the router that the box leaves, so that it revokes the credentials, and deletes everything that the box keeps here. Deletes it also
 * if the router cannot be reached.
 * @param folders the folder of the box, and others to delete
 * @returns sentences for the user
 */
export async function leaveRouter(folders: readonly [string, ...string[]]): Promise<string[]> {
  const box = readJoined(folders[0]);
  const problem = box && (await tellRouter(box));
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  if (!box) return ['This machine is no box: there was nothing to leave.'];
  if (problem === undefined) return [`${box.name} has left ${box.address}.`];
  return [
    `This machine has forgotten ${box.name}, but has not left the router: ${problem}`,
    `An administrator of ${box.address} can revoke ${box.name} in the console.`,
  ];
}

/** Returns the reason if the router could not be told. */
async function tellRouter({ name, key, ...door }: JoinedBox): Promise<string | undefined> {
  const time = Date.now();
  const signature = signText(key, JSON.stringify({ name, time }));
  try {
    const { status } = await callRouter(door, '/api/leave', { v: 1, name, time, signature });
    // With 401, the credentials were revoked before.
    return status < 300 || status === 401 ? undefined : `it answered with status ${status}.`;
  } catch (error) {
    if (error instanceof BoxError) return error.message;
    throw error;
  }
}

function readJoined(folder: string): JoinedBox | undefined {
  try {
    return readBoxState(folder).joined;
  } catch (error) {
    // What is damaged is deleted.
    if (error instanceof BoxError) return undefined;
    throw error;
  }
}
