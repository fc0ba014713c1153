import { Command, Option } from 'commander';
import { usageGroups } from '#shared/accounts/ledger/usage-filter.ts';
import type { Period } from '#shared/accounts/periods.ts';
import { refusalSteps } from '#shared/accounts/refusals/refusal-periods.ts';
import { refusalGroups } from '#shared/accounts/refusals/refusal-reader.ts';
import { createWholeNumberParser } from '../whole-number.ts';
import { addCommand, type AdminContext, type RunAdminCommand } from './admin-context.ts';
import { printList } from './print-answers.ts';
import {
  readFilter,
  formatPeriod,
  readPeriod,
  withFilters,
  withOwners,
  withSpan,
  type UsageOptions,
} from './usage-options.ts';
import { showOverview, type OverviewOptions } from './usage-overview.ts';
import { showReport, type ReportOptions } from './usage-report.ts';
import { listRequests, type RequestOptions } from './usage-requests.ts';
import { readFormat, createFormatOption, downloadFile, type FileOptions } from './download-file.ts';

interface Refusals extends Period {
  groups: { id: string; name: string; count: number }[];
  total: number;
}

type RefusalOptions = ReportOptions & { code?: string };
type ExportOptions = UsageOptions & FileOptions;

const defaultPeriod = 'default: the last 30 days';

const reportSteps =
  'length of the steps in the output of --json; hours are kept for eight days, by model, key, team and user';

export function createUsageCommand(run: RunAdminCommand): Command {
  const command = new Command('usage').description('see what was used, and what was refused');
  withFilters(
    withSpan(
      addCommand(command, 'report', 'sum up requests, tokens and cost'),
      `${defaultPeriod}, or the last 24 hours with --step hour`,
    ),
  )
    .addOption(new Option('--by <fact>', 'what to sum up by').choices(usageGroups).default('model'))
    .addOption(new Option('--step <step>', reportSteps).choices(['hour', 'day', 'month']).default('day'))
    .action((options: ReportOptions) => run(options, (context) => showReport(context, options)));
  withOutcome(
    withFilters(withSpan(addCommand(command, 'requests', 'list single requests, newest first'), 'default: any time')),
  )
    .option('--code <code>', 'only requests that failed with this code of the error table')
    .option('--id <id>', 'only the requests with this id, which x-request-id contains; other options are ignored')
    .option('--limit <count>', 'how many at most', createWholeNumberParser(1, 100_000), 50)
    .action((options: RequestOptions) => run(options, (context) => listRequests(context, options)));
  addCommand(
    command,
    'overview',
    'sum up the last hour, 24 hours or seven days, with times and the most used models, keys and workers',
  )
    .addOption(new Option('--span <span>', 'until now').choices(['1h', '24h', '7d']).default('24h'))
    .action((options: OverviewOptions) => run(options, (context) => showOverview(context, options)));
  withOutcome(
    withFilters(
      withSpan(addCommand(command, 'export', 'write single requests as a file, oldest first'), defaultPeriod),
    ),
  )
    .addOption(createFormatOption())
    .option('--out <file>', 'path of the file; the standard output without it')
    .action((options: ExportOptions) =>
      run(options, async (context) => {
        const query = {
          format: readFormat(options),
          ...readPeriod(options),
          ...(await readFilter(context.client, options)),
        };
        await downloadFile(context, '/usage/export', query, options.out);
      }),
    );
  withOwners(
    withSpan(
      addCommand(command, 'refusals', 'count requests that were refused before a worker got them'),
      defaultPeriod,
    ),
  )
    .option('--code <code>', 'only requests that were refused with this code of the error table')
    .addOption(new Option('--by <fact>', 'what to count by').choices(refusalGroups).default('code'))
    .addOption(
      new Option('--step <step>', 'length of the steps in the output of --json').choices(refusalSteps).default('day'),
    )
    .action((options: RefusalOptions) => run(options, (context) => showRefusals(context, options)));
  return command;
}

function withOutcome(command: Command): Command {
  return command
    .addOption(new Option('--outcome <outcome>', 'only with this outcome').choices(['done', 'failed', 'cancelled']))
    .option('--recorded', 'only requests that were recorded')
    .option('--no-recorded', 'only requests that were not recorded');
}

async function showRefusals(context: AdminContext, options: RefusalOptions): Promise<void> {
  const { client, print, json } = context;
  const { by, step, code } = options;
  const query = { ...readPeriod(options), by, step, code, ...(await readFilter(client, options)) };
  const refusals = await client.get<Refusals>('/usage/refusals', query);
  if (json) return print(JSON.stringify(refusals));
  await printList(context, [...refusals.groups, { id: '', name: 'all', count: refusals.total }], {
    head: [by.toUpperCase(), 'REFUSED'],
    row: ({ name, count }) => [name, count],
    none: '',
  });
  print(formatPeriod(refusals));
}
