import { Command, Option } from 'commander';
import { deliveryStates, type DeliveryState } from '#shared/accounts/webhooks/webhook-deliveries.ts';
import { wholeNumber } from '../../whole-number.ts';
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

const webhook = ['<webhook>', 'id of the webhook'] as const;

export function webhooksCommand(run: RunAdminCommand): Command {
  const command = new Command('webhooks').description('manage where events are sent, and see what became of them');
  addCommand(
    command,
    'add',
    'create a webhook and print its secret, once; it belongs to the router unless a team or a person is named',
  )
    .argument('<url>', 'http or https address that events are sent to')
    .requiredOption('--events <list>', 'types of events, separated by commas, as batch.completed or batch.*')
    .option('--team <team>', 'name or id of the team that it belongs to')
    .option('--user <address>', 'email address of the person that it belongs to')
    .option('--description <text>', 'what it is for')
    .action((url: string, options: AdminOptions & NewWebhookOptions) => {
      requireOneOwner(options);
      return run(options, (context) => addWebhook(context, url, options));
    });
  addCommand(command, 'list', 'list all webhooks, including disabled ones').action((options: AdminOptions) =>
    run(options, listWebhooks),
  );
  addCommand(command, 'test', 'send a test event to a webhook, and wait for what the receiver answers')
    .argument(...webhook)
    .action((id: string, options: AdminOptions) => run(options, (context) => testWebhook(context, id)));
  addCommand(command, 'deliveries', 'list what was sent to a webhook, and what is on its way, newest first')
    .argument(...webhook)
    .addOption(new Option('--state <state>', 'those in this state only').choices(deliveryStates))
    .option('--limit <count>', 'how many at most', wholeNumber(1, 500), 50)
    .action((id: string, options: AdminOptions & { state?: DeliveryState; limit: number }) =>
      run(options, (context) => listDeliveries(context, id, options)),
    );
  addCommand(command, 'repeat', 'send ended deliveries again: those that are named, or all that were given up')
    .argument(...webhook)
    .argument('[deliveries...]', 'ids of deliveries')
    .action((id: string, deliveries: string[], options: AdminOptions) =>
      run(options, (context) => repeatDeliveries(context, id, deliveries)),
    );
  addCommand(
    command,
    'rotate',
    'make a new secret for a webhook and print it, once; the one before signs too for some hours',
  )
    .argument(...webhook)
    .option('--overlap-hours <hours>', 'hours for which the secret before signs too', wholeNumber(0, 720), 24)
    .action((id: string, options: AdminOptions & { overlapHours: number }) =>
      run(options, (context) => rotateWebhook(context, id, options.overlapHours)),
    );
  addSwitch('enable', 'send events to a webhook again', true);
  addSwitch('disable', 'send nothing to a webhook', false);
  addCommand(command, 'remove', 'remove a webhook with its deliveries')
    .argument(...webhook)
    .action((id: string, options: AdminOptions) => run(options, (context) => removeWebhook(context, id)));
  return command;

  function addSwitch(name: string, description: string, enabled: boolean): void {
    addCommand(command, name, description)
      .argument(...webhook)
      .action((id: string, options: AdminOptions) => run(options, (context) => setWebhook(context, id, enabled)));
  }
}
