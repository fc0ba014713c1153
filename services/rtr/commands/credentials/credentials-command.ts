import { Command, InvalidArgumentError, Option } from 'commander';
import type { Role } from '#shared/broker/connection/credential.ts';
import { tiers, type Tier } from '#shared/core/tier.ts';
import { defaultAuthorityFolder, hasAuthority } from '#shared/broker/authority/authority-folder.ts';
import { initCredentials } from './init-credentials.ts';
import { issueCredentialFile } from './issue-credential-file.ts';
import { listCredentials } from './list-credentials.ts';
import { revokeCredential } from './revoke-credential.ts';

const hourMs = 3_600_000;
const units: Record<string, number> = { h: hourMs, d: 24 * hourMs };

/** The roles of components other than workers. */
const componentRoles = ['ingress', 'runner'] as const satisfies readonly Role[];

export interface CredentialsCommandParts {
  prefix: () => string;
  /** Folder of the authority that `rtr up` has created in this folder. It may be missing. */
  clusterFolder: string;
  print: (line: string) => void;
}

/** Creates `rtr credentials …`, which manages the credentials with which the components of a cluster connect to NATS. */
export function createCredentialsCommand({ prefix, clusterFolder, print }: CredentialsCommandParts): Command {
  const command = new Command('credentials').description(
    'manage the credentials with which the components of a cluster connect to NATS',
  );
  const ca = new Option(
    '--ca <file>',
    "certificate authority (PEM) of the servers' certificates, written into each credential",
  );
  const from = new Option('--from <folder>', "folder of the cluster's authority").default(
    hasAuthority(clusterFolder) ? clusterFolder : defaultAuthorityFolder,
    `that of \`rtr up\`, if there is one, else ${defaultAuthorityFolder}`,
  );
  command
    .command('init')
    .description("create a cluster's authority, and one credential for each kind of component")
    .option('--out <folder>', "folder of the cluster's authority", defaultAuthorityFolder)
    .addOption(ca)
    .action((options: { out: string; ca?: string }) => initCredentials({ ...options, prefix: prefix(), print }));
  command
    .command('worker')
    .description(
      'create a credential for one more worker, or for several workers that share it; only a shared one requires a change on the NATS servers',
    )
    .addOption(new Option('--tier <tier>', 'the tier that the worker serves').choices(tiers).makeOptionMandatory())
    .requiredOption('--name <name>', 'name of the credential')
    .option('--shared', 'for several workers, such as replicas; no worker can read messages to another')
    .requiredOption('--out <file>', 'file to write; - prints the credential')
    .option('--force', 'replace a file that exists')
    .option(
      '--expires <time>',
      'how long the credential is valid, such as 90d or 12h; default: until it is revoked; not for a shared one',
      readDuration,
    )
    .addOption(ca)
    .addOption(from)
    .action(
      (options: {
        tier: Tier;
        name: string;
        shared?: true;
        out: string;
        force?: true;
        expires?: number;
        ca?: string;
        from: string;
      }) =>
        issueCredentialFile({
          ...options,
          authorityFolder: options.from,
          role: options.tier,
          validMs: options.expires,
          print,
        }),
    );
  command
    .command('part')
    .description('create a credential for one more ingress or batch runner, or for several of them that share it')
    .addOption(new Option('--role <role>', 'role of the component').choices(componentRoles).makeOptionMandatory())
    .requiredOption('--name <name>', 'name of the credential')
    .requiredOption('--out <file>', 'file to write; - prints the credential')
    .option('--force', 'replace a file that exists')
    .option(
      '--expires <time>',
      'how long the credential is valid, such as 90d or 12h; default: until it is revoked',
      readDuration,
    )
    .addOption(ca)
    .addOption(from)
    .action(
      (options: { role: Role; name: string; out: string; force?: true; expires?: number; ca?: string; from: string }) =>
        issueCredentialFile({ ...options, authorityFolder: options.from, validMs: options.expires, print }),
    );
  command
    .command('revoke')
    .description('refuse a credential from now on')
    .argument('<name>', 'name of the credential')
    .addOption(from)
    .action((name: string, { from: authorityFolder }: { from: string }) =>
      revokeCredential({ name, authorityFolder, print }),
    );
  command
    .command('list')
    .description('list all credentials, including revoked ones')
    .option('--json', 'print JSON instead of a table')
    .addOption(from)
    .action((options: { json?: true; from: string }) =>
      listCredentials({ authorityFolder: options.from, json: options.json ?? false, print }),
    );
  return command;
}

/** Parses a duration such as `90d` or `12h`. Returns milliseconds. */
function readDuration(text: string): number {
  const [, count, unit = ''] = /^([1-9][0-9]{0,4})([hd])$/.exec(text) ?? [];
  if (count === undefined) throw new InvalidArgumentError('must be a number of days or hours, such as 90d or 12h.');
  return Number(count) * (units[unit] ?? 0);
}
