import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { leaveAccountFolder, takeAccountFolder } from '#services/rtr/up/servers/account-folder.ts';
import { temporaryFolder } from '../../../../helpers/files/temporary-folder.ts';

const account = `A${'B'.repeat(55)}`;
const earlierAccount = `A${'C'.repeat(55)}`;

/** Creates JetStream's folder with folders of accounts, each with one file. */
function createFolders(...names: string[]): string {
  const folder = join(temporaryFolder(), 'jetstream');
  for (const name of names) {
    mkdirSync(join(folder, name), { recursive: true });
    writeFileSync(join(folder, name, `file of ${name}`), '');
  }
  return folder;
}

/** Lists the folders with their files. */
const list = (folder: string): string[] =>
  readdirSync(folder).flatMap((name) => readdirSync(join(folder, name)).map((file) => `${name}: ${file}`));

describe("the folder with JetStream's files", () => {
  it('has the name of the account while a server runs, and that of earlier releases while none does', () => {
    const folder = createFolders('$G');
    takeAccountFolder(folder, account);
    expect(list(folder)).toEqual([`${account}: file of $G`]);
    takeAccountFolder(folder, account);
    leaveAccountFolder(folder, account);
    expect(list(folder)).toEqual(['$G: file of $G']);
  });

  it('is taken from an earlier authority if the cluster was not stopped regularly', () => {
    const folder = createFolders(earlierAccount, 'other');
    takeAccountFolder(folder, account);
    expect(list(folder)).toEqual([`${account}: file of ${earlierAccount}`, 'other: file of other']);
  });

  it('never replaces another one', () => {
    const folder = createFolders('$G', account);
    const before = list(folder);
    takeAccountFolder(folder, account);
    leaveAccountFolder(folder, account);
    expect(list(folder)).toEqual(before);
  });

  it('is missing before the first start', () => {
    const folder = createFolders();
    takeAccountFolder(folder, account);
    leaveAccountFolder(folder, account);
    expect(list(folder)).toEqual([]);
  });
});
