import { Command, Option } from 'commander';
import { deliveryStates, type DeliveryState } from '#shared/accounts/webhooks/webhook-deliveries.ts';
import { createWholeNumberParser } from '../../whole-number.ts';
import { addCommand, type AdminOptions, type RunAdminCommand } from '../admin-context.ts';
import { listDeliveries, testWebhook } from './deliveries.ts';
import {
  addWebhook,
  listWebhooks,
  removeWebhook,
  repeatDeliveries,
  requireOneOwner,
  rotateWebhook,
  setWebhook,
  type NewWebhookOptions,
} from './webhooks.ts';

const webhookArgument = ['<webhook>', 'id of the webhook'] as const;

export function createWebhooksCommand(run: RunAdminCommand): Command {
  const command = new Command('webhooks').description(
    'manage the addresses that events are sent to, and see what was delivered',
  );
  addCommand(
    command,
    'add',
    'create a webhook and print its secret, once; a webhook of the router, unless a team or a person is named',
  )
    .argument('<url>', 'http or https address that events are sent to')
    .requiredOption('--events <list>', 'types of events, separated by commas, such as batch.completed or batch.*')
    .option('--team <team>', 'name or id of the team that the webhook belongs to')
    .option('--user <address>', 'email address of the person that the webhook belongs to')
    .option('--description <text>', 'what the webhook is for')
    .action((url: string, options: AdminOptions & NewWebhookOptions) => {
      requireOneOwner(options);
      return run(options, (context) => addWebhook(context, url, options));
    });
  addCommand(command, 'list', 'list all webhooks, including disabled ones').action((options: AdminOptions) =>
    run(options, listWebhooks),
  );
  addCommand(command, 'test', 'send a test event to a webhook, and wait for the answer of the receiver')
    .argument(...webhookArgument)
    .action((id: string, options: AdminOptions) => run(options, (context) => testWebhook(context, id)));
  addCommand(command, 'deliveries', 'list the deliveries to a webhook, ended and pending, newest first')
    .argument(...webhookArgument)
    .addOption(new Option('--state <state>', 'only the deliveries in this state').choices(deliveryStates))
    .option('--limit <count>', 'how many at most', createWholeNumberParser(1, 500), 50)
    .action((id: string, options: AdminOptions & { state?: DeliveryState; limit: number }) =>
      run(options, (context) => listDeliveries(context, id, options)),
    );
  addCommand(command, 'repeat', 'send ended deliveries again: those that are named, or all that were given up')
    .argument(...webhookArgument)
    .argument('[deliveries...]', 'ids of deliveries')
    .action((id: string, deliveries: string[], options: AdminOptions) =>
      run(options, (context) => repeatDeliveries(context, id, deliveries)),
    );
  addCommand(
    command,
    'rotate',
    'make a new secret for a webhook and print it, once; the previous secret signs too for some hours',
  )
    .argument(...webhookArgument)
    .option(
      '--overlap-hours <hours>',
      'hours for which the previous secret signs too',
      createWholeNumberParser(0, 720),
      24,
    )
    .action((id: string, options: AdminOptions & { overlapHours: number }) =>
      run(options, (context) => rotateWebhook(context, id, options.overlapHours)),
    );
  addSwitch('enable', 'send events to a webhook again', true);
  addSwitch('disable', 'send nothing to a webhook', false);
  addCommand(command, 'remove', 'remove a webhook with its deliveries')
    .argument(...webhookArgument)
    .action((id: string, options: AdminOptions) => run(options, (context) => removeWebhook(context, id)));
  return command;

  function addSwitch(name: string, description: string, enabled: boolean): void {
    addCommand(command, name, description)
      .argument(...webhookArgument)
      .action((id: string, options: AdminOptions) => run(options, (context) => setWebhook(context, id, enabled)));
  }
}
