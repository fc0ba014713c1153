import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readCredentialsDir } from '#services/ingress/read-credentials-dir.ts';
import { createAuthority } from '#shared/broker/authority/authority.ts';
import { writeAuthority } from '#shared/broker/authority/authority-folder.ts';
import { ConfigError } from '#shared/core/load-config.ts';
import { temporaryFolder } from '../../helpers/files/temporary-folder.ts';

it('CREDENTIALS_DIR has the authority of this cluster, or an error names it and the reason', async () => {
  const folder = temporaryFolder();
  await writeAuthority(folder, await createAuthority('ours', undefined));
  expect(readCredentialsDir(folder, 'ours')).toBe(folder);
  expect(readCredentialsDir(undefined, 'ours')).toBeUndefined();
  const nowhere = join(folder, 'nowhere');
  expect(() => readCredentialsDir(nowhere, 'ours')).toThrow(`CREDENTIALS_DIR=${nowhere}: there is no authority`);
  const others = new ConfigError(
    `CREDENTIALS_DIR=${folder}: the authority belongs to the cluster ours, but RTR_PREFIX is others`,
  );
  expect(() => readCredentialsDir(folder, 'others')).toThrow(others);
});
