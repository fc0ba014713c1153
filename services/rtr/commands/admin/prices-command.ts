import { Command } from 'commander';
import { modelPriceSchema } from '#shared/accounts/prices/model-price.ts';
import { buildPath } from './admin-client.ts';
import type { Price } from './admin-answers.ts';
import { addCommand, type AdminContext, type AdminOptions, type RunAdminCommand } from './admin-context.ts';
import { readNamedValues, readNumberOrNone } from './named-values.ts';
import { printDone, printList, formatValues } from './print-answers.ts';

const priceFields = Object.keys(modelPriceSchema.shape);

export function createPricesCommand(run: RunAdminCommand): Command {
  const command = new Command('prices').description('see and change what models cost, in dollars per million tokens');
  addCommand(command, 'list', 'list the prices of all models')
    .option('--changed', 'only the prices that were set here')
    .action((options: AdminOptions & { changed?: true }) => run(options, (context) => listPrices(context, options)));
  addCommand(command, 'set', 'set the whole price of a model, in place of the shipped price')
    .argument('<model>', 'name of the model')
    .argument('<fields...>', 'such as input=0.5 output=1.5 cached-input=0.1; as-of=<date> defaults to today')
    .action((model: string, values: string[], options: AdminOptions) =>
      run(options, async (context) => {
        const body = readNamedValues(values, priceFields, (text, name) =>
          name === 'asOf' ? text : readNumberOrNone(text, name),
        );
        const { value } = await context.client.send<Price>('PUT', buildPath`/prices/${model}`, { body });
        printDone(context, value, `The price of ${value.model} is ${formatPrice(value)}.`);
      }),
    );
  addCommand(command, 'reset', 'remove the price that was set for a model; the shipped price applies again')
    .argument('<model>', 'name of the model')
    .action((model: string, options: AdminOptions) =>
      run(options, async (context) => {
        await context.client.send('DELETE', buildPath`/prices/${model}`);
        printDone(context, { model, reset: true }, `The price of ${model} is the shipped one again, if there is one.`);
      }),
    );
  return command;
}

async function listPrices(context: AdminContext, { changed }: { changed?: true }): Promise<void> {
  const prices = await context.client.listAll<Price>('/prices');
  await printList(
    context,
    prices.filter(({ source }) => changed === undefined || source === 'changed'),
    {
      head: ['MODEL', 'SOURCE', 'AS OF', 'DOLLARS'],
      row: (price) => [price.model, price.source, price.asOf ?? '-', formatPrice(price)],
      none: changed ? 'No price was set here.' : 'There are no prices.',
    },
  );
}

function formatPrice({ model: _model, source: _source, asOf: _asOf, ...price }: Price): string {
  return formatValues(price);
}
