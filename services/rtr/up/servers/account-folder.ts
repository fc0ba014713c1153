import { existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Name of the folder while no server runs: that of the account that a server without an authority has. Earlier releases look for files
 * there, so a cluster that was stopped can be started with one of them.
 */
const restingName = '$G';

/** The pattern of an account's public key, which is the name of its folder. */
const accountPattern = /^A[A-Z2-7]{55}$/;

/**
 * Gives an account the folder with JetStream's files, which contain the files of users. The folder has the name `$G`, or that of an earlier
 * authority's account if the cluster was not stopped regularly. Changes nothing if the account has a folder already.
 * @param folder JetStream's folder, in which each account has a folder
 */
export function takeAccountFolder(folder: string, account: string): void {
  const own = join(folder, account);
  if (existsSync(own)) return;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const names = readdirSync(folder);
  const name = names.find((each) => each === restingName) ?? names.find((each) => accountPattern.test(each));
  if (name !== undefined) renameSync(join(folder, name), own);
}

/** Renames the folder of an account that `takeAccountFolder` has named, after the server has ended. */
export function leaveAccountFolder(folder: string, account: string): void {
  const own = join(folder, account);
  const resting = join(folder, restingName);
  if (existsSync(own) && !existsSync(resting)) renameSync(own, resting);
}
