import { Command, Option } from 'commander';
import { deliveryStates, type DeliveryState } from '#shared/accounts/webhooks/webhook-deliveries.ts';
import { wholeNumber } from '../whole-number.ts';
import { listDeliveries, repeatDeliveries, testWebhook } from './deliveries.ts';
import type { WebhookContext } from './webhook-context.ts';
import { addWebhook, listWebhooks, removeWebhook, rotateWebhook, setWebhook } from './webhooks.ts';

/** Runs a command with what it works with. */
export type RunWebhookCommand = (
  options: { json?: true },
  command: (context: WebhookContext) => Promise<unknown>,
) => Promise<void>;

/** `rtr webhooks …`: where the router sends events, and what became of them. */
export function webhooksCommand(run: RunWebhookCommand): Command {
  const command = new Command('webhooks').description('manage where events are sent, and see what became of them');
  const json = new Option('--json', 'print JSON instead of sentences');
  const webhook = 'id of the webhook';
  command
    .command('add')
    .description(
      'create a webhook and print its secret, once; it belongs to the router unless a team or a person is named',
    )
    .argument('<url>', 'http or https address that events are sent to')
    .requiredOption('--events <list>', 'types of events, separated by commas, as batch.completed or batch.*')
    .option('--team <team>', 'name or id of the team that it belongs to')
    .option('--user <address>', 'email address of the person that it belongs to')
    .option('--description <text>', 'what it is for')
    .addOption(json)
    .action(
      (url: string, options: { events: string; team?: string; user?: string; description?: string; json?: true }) =>
        run(options, (context) => addWebhook(context, { url, ...options })),
    );
  command
    .command('list')
    .description('list all webhooks, including disabled ones')
    .addOption(json)
    .action((options: { json?: true }) => run(options, listWebhooks));
  command
    .command('test')
    .description('send a test event to a webhook, and wait for what the receiver answers')
    .argument('<webhook>', webhook)
    .addOption(json)
    .action((id: string, options: { json?: true }) => run(options, (context) => testWebhook(context, id)));
  command
    .command('deliveries')
    .description('list what was sent to a webhook, and what is on its way, newest first')
    .argument('<webhook>', webhook)
    .addOption(new Option('--state <state>', 'those in this state only').choices(deliveryStates))
    .option('--limit <count>', 'how many at most', wholeNumber(1, 500), 50)
    .addOption(json)
    .action((id: string, options: { state?: DeliveryState; limit: number; json?: true }) =>
      run(options, (context) => listDeliveries(context, id, options)),
    );
  command
    .command('repeat')
    .description('send ended deliveries again: those that are named, or all that were given up')
    .argument('<webhook>', webhook)
    .argument('[deliveries...]', 'ids of deliveries')
    .addOption(json)
    .action((id: string, deliveries: string[], options: { json?: true }) =>
      run(options, (context) => repeatDeliveries(context, id, deliveries)),
    );
  command
    .command('rotate')
    .description('make a new secret for a webhook and print it, once; the one before signs too for some hours')
    .argument('<webhook>', webhook)
    .option('--overlap-hours <hours>', 'hours for which the secret before signs too', wholeNumber(0, 720), 24)
    .addOption(json)
    .action((id: string, options: { overlapHours: number; json?: true }) =>
      run(options, (context) => rotateWebhook(context, id, options.overlapHours)),
    );
  for (const [name, enabled] of [
    ['enable', true],
    ['disable', false],
  ] as const) {
    command
      .command(name)
      .description(enabled ? 'send events to a webhook again' : 'send nothing to a webhook')
      .argument('<webhook>', webhook)
      .addOption(json)
      .action((id: string, options: { json?: true }) => run(options, (context) => setWebhook(context, id, enabled)));
  }
  command
    .command('remove')
    .description('remove a webhook with its deliveries')
    .argument('<webhook>', webhook)
    .addOption(json)
    .action((id: string, options: { json?: true }) => run(options, (context) => removeWebhook(context, id)));
  return command;
}
