import { Command, InvalidArgumentError, Option } from 'commander';
import { tiers, type Tier } from '#shared/core/tier.ts';
import { usualFolder } from './authority-folder.ts';
import { initCredentials } from './init-credentials.ts';
import { issueWorker } from './issue-worker.ts';
import { listCredentials } from './list-credentials.ts';
import { revokeCredential } from './revoke-credential.ts';

const hourMs = 3_600_000;
const units: Record<string, number> = { h: hourMs, d: 24 * hourMs };

/** `rtr credentials …`: who may connect to NATS, and as what. */
export function credentialsCommand(prefix: () => string, print: (line: string) => void): Command {
  const command = new Command('credentials').description('who may connect to NATS, and as what');
  const ca = new Option('--ca <file>', "certificates (PEM) that signed the servers' own, to go into each credential");
  const from = new Option('--from <folder>', "folder of the cluster's trust").default(usualFolder);
  command
    .command('init')
    .description("make a cluster's trust, and one credential for the ingresses and for each tier of workers")
    .option('--out <folder>', "folder of the cluster's trust", usualFolder)
    .addOption(ca)
    .action((options: { out: string; ca?: string }) => initCredentials({ ...options, prefix: prefix(), print }));
  command
    .command('worker')
    .description('make a credential for one more worker, or several that share it; no server needs to be touched')
    .addOption(new Option('--tier <tier>', 'what it serves').choices(tiers).makeOptionMandatory())
    .requiredOption('--name <name>', 'whose it is')
    .requiredOption('--out <file>', 'file to write it to')
    .option('--expires <time>', 'for how long it is valid, as 90d or 12h; for ever when left out', readTime)
    .addOption(ca)
    .addOption(from)
    .action((options: { tier: Tier; name: string; out: string; expires?: number; ca?: string; from: string }) =>
      issueWorker({ ...options, role: options.tier, validMs: options.expires, print }),
    );
  command
    .command('revoke')
    .description('refuse a credential from now on')
    .argument('<name>', 'whose it is')
    .addOption(from)
    .action((name: string, options: { from: string }) => revokeCredential({ name, ...options, print }));
  command
    .command('list')
    .description('list all credentials, revoked ones too')
    .option('--json', 'print JSON instead of a table')
    .addOption(from)
    .action((options: { json?: true; from: string }) =>
      listCredentials({ from: options.from, json: options.json ?? false, print }),
    );
  return command;
}

/** @returns milliseconds */
function readTime(text: string): number {
  const [, count, unit = ''] = /^([1-9][0-9]{0,4})([hd])$/.exec(text) ?? [];
  if (count === undefined) throw new InvalidArgumentError('must be a number of days or hours, as 90d or 12h.');
  return Number(count) * (units[unit] ?? 0);
}
