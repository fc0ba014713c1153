import { Command, Option } from 'commander';
import { usageGroups } from '#shared/accounts/ledger/usage-filter.ts';
import type { Period } from '#shared/accounts/periods.ts';
import { refusalSteps } from '#shared/accounts/refusals/refusal-periods.ts';
import { refusalGroups } from '#shared/accounts/refusals/refusal-reader.ts';
import { wholeNumber } from '../whole-number.ts';
import { addCommand, type AdminContext, type RunAdminCommand } from './admin-context.ts';
import { printList } from './print-answers.ts';
import { filterOf, periodLine, spanOf, withFilters, withOwners, withSpan, type UsageOptions } from './usage-options.ts';
import { showOverview, type OverviewOptions } from './usage-overview.ts';
import { showReport, type ReportOptions } from './usage-report.ts';
import { listRequests, type RequestOptions } from './usage-requests.ts';
import { formatOf, formatOption, writeFile, type FileOptions } from './write-file.ts';

interface Refusals extends Period {
  groups: { id: string; name: string; count: number }[];
  total: number;
}

type RefusalOptions = ReportOptions & { code?: string };
type ExportOptions = UsageOptions & FileOptions;

const days = 'the last 30 days without it';

const reportSteps = 'the steps that --json has; hours are kept for eight days, by model, key, team and user';

export function usageCommand(run: RunAdminCommand): Command {
  const command = new Command('usage').description('see what was used, and what was refused');
  withFilters(
    withSpan(addCommand(command, 'report', 'sum up requests, tokens and cost'), `${days}, with hours the last 24`),
  )
    .addOption(new Option('--by <fact>', 'what to sum up by').choices(usageGroups).default('model'))
    .addOption(new Option('--step <step>', reportSteps).choices(['hour', 'day', 'month']).default('day'))
    .action((options: ReportOptions) => run(options, (context) => showReport(context, options)));
  withOutcome(
    withFilters(withSpan(addCommand(command, 'requests', 'list single requests, newest first'), 'any time without it')),
  )
    .option('--code <code>', 'failed with this code of the error table only')
    .option('--id <id>', 'those with this id, as x-request-id has it, whatever the other options say')
    .option('--limit <count>', 'how many at most', wholeNumber(1, 100_000), 50)
    .action((options: RequestOptions) => run(options, (context) => listRequests(context, options)));
  addCommand(command, 'overview', 'sum up the last hour, 24 hours or seven days, with times and the most used')
    .addOption(new Option('--span <span>', 'until now').choices(['1h', '24h', '7d']).default('24h'))
    .action((options: OverviewOptions) => run(options, (context) => showOverview(context, options)));
  withOutcome(
    withFilters(withSpan(addCommand(command, 'export', 'write single requests as a file, oldest first'), days)),
  )
    .addOption(formatOption())
    .option('--out <file>', 'path of the file; the standard output without it')
    .action((options: ExportOptions) =>
      run(options, async (context) => {
        const query = { format: formatOf(options), ...spanOf(options), ...(await filterOf(context.client, options)) };
        await writeFile(context, '/usage/export', query, options.out);
      }),
    );
  withOwners(withSpan(addCommand(command, 'refusals', 'count requests that no worker was given'), days))
    .option('--code <code>', 'refused with this code of the error table only')
    .addOption(new Option('--by <fact>', 'what to count by').choices(refusalGroups).default('code'))
    .addOption(new Option('--step <step>', 'the steps that --json has').choices(refusalSteps).default('day'))
    .action((options: RefusalOptions) => run(options, (context) => refusals(context, options)));
  return command;
}

function withOutcome(command: Command): Command {
  return command
    .addOption(new Option('--outcome <outcome>', 'with this outcome only').choices(['done', 'failed', 'cancelled']))
    .option('--recorded', 'those that were recorded only')
    .option('--no-recorded', 'those that were not recorded only');
}

async function refusals(context: AdminContext, options: RefusalOptions): Promise<void> {
  const { client, print, json } = context;
  const { by, step, code } = options;
  const query = { ...spanOf(options), by, step, code, ...(await filterOf(client, options)) };
  const found = await client.get<Refusals>('/usage/refusals', query);
  if (json) return print(JSON.stringify(found));
  await printList(context, [...found.groups, { id: '', name: 'all', count: found.total }], {
    head: [by.toUpperCase(), 'REFUSED'],
    row: ({ name, count }) => [name, count],
    none: '',
  });
  print(periodLine(found));
}
