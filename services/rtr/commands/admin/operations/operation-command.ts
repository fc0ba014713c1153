import type { Command } from 'commander';
import type { z } from 'zod';
import type { OperationDescription } from '../../../../console/contract/operation.ts';
import { isJsonObject } from '#shared/core/json.ts';
import { createWholeNumberParser } from '../../whole-number.ts';
import { withAdminOptions, type AdminContext, type AdminOptions, type RunAdminCommand } from '../admin-context.ts';
import { downloadFile } from '../download-file.ts';
import { referenceForms } from '../find-party.ts';
import { listInputFields, type InputField } from './input-field.ts';
import { buildInput, findFieldReference, listPathParameters, type OperationInput } from './operation-input.ts';
import { addFieldArgument, addFieldOptions } from './operation-options.ts';
import { fillSentence, findItem, printItems, printObject } from './print-answer.ts';

/** Fields of a query that say which page is wanted. Commands list page after page. */
const pageFields = new Set(['cursor', 'before', 'after', 'limit']);
/** The number of items that a command lists unless `--limit` says otherwise, if there may be very many. */
const defaultLimit = 50;

type Options = AdminOptions & { limit?: number; out?: string; format?: string } & Record<string, unknown>;

/** Adds the command of an operation to the command of its subject. Its arguments, options and output follow from its schemas. */
export function addOperationCommand(
  parent: Command,
  name: string,
  operation: OperationDescription,
  run: RunAdminCommand,
): void {
  const { form } = operation;
  const command = parent.command(name).description(operation.summary.replace(/^Returns /, 'Shows '));
  const parameters = listPathParameters(operation.path, form);
  for (const { label, reference } of parameters) command.argument(`<${label}>`, reference && referenceForms[reference]);
  const isPaged = operation.isList || form.items !== undefined;
  const isFile = operation.files.length > 0;
  const fields = listInputFields(operation.body ?? operation.query)
    .filter(({ path: [first = ''] }) => !(isPaged && pageFields.has(first)) && !(isFile && first === 'format'))
    .map((field) => completeFacts(field, form));
  const argumentFields = (form.arguments ?? []).flatMap(
    (each) => fields.find(({ path }) => path.join('.') === each) ?? [],
  );
  const optionFields = fields.filter((field) => !argumentFields.includes(field));
  for (const field of argumentFields) addFieldArgument(command, field);
  addFieldOptions(command, optionFields);
  if (operation.isEndless || form.items !== undefined)
    command.option('--limit <number>', 'how many at most', createWholeNumberParser(1, 100_000), defaultLimit);
  if (isFile) {
    command.option('--out <file>', 'path of the file; the standard output without it');
    if (operation.query?.shape['format'])
      command.option('--format <format>', 'format of the file: csv or json; default: csv, or json with --json');
  }
  if (form.example !== undefined) command.addHelpText('after', `\nEXAMPLES\n  $ rtr ${form.example}`);
  withAdminOptions(command).action(async (...words: unknown[]) => {
    const texts = words.slice(0, parameters.length + argumentFields.length);
    const options = words[texts.length] as Options;
    const given = parameters.map((parameter, at) => ({ ...parameter, text: String(texts[at]) }));
    const values = new Map<InputField, unknown>(
      [
        ...argumentFields.map((field, at) => [field, texts[parameters.length + at]] as const),
        ...optionFields.map(
          (field) => [field, options[toAttribute(field.flag)] ?? findDefault(operation, field)] as const,
        ),
      ].filter(([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0)),
    );
    await run(options, async (context) =>
      runOperation(context, operation, await buildInput(context.client, operation, given, values), options),
    );
  });
}

/** Returns what to send for an option that is not given. A change leaves such fields as they are. */
function findDefault({ method }: OperationDescription, { path, defaultValue }: InputField): unknown {
  return method === 'patch' || path.length > 1 ? undefined : defaultValue;
}

/** Returns a field with its name on the command line, the default of a required period, and how a text names what it refers to. */
function completeFacts(field: InputField, form: OperationDescription['form']): InputField {
  const { period = '30d' } = form;
  if (field.kind === 'past' && field.isRequired)
    return { ...field, isRequired: false, absent: field.flag === 'to' ? 'now' : period };
  const name = field.path.join('.');
  const named = { ...field, flag: form.flags?.[name] ?? field.flag };
  const reference = findFieldReference(form, name);
  return reference ? { ...named, description: referenceForms[reference] } : named;
}

async function runOperation(
  context: AdminContext,
  operation: OperationDescription,
  { path, query, body, ifMatch, names }: OperationInput,
  options: Options,
): Promise<void> {
  const { client, print, hint, json } = context;
  const { form, answer } = operation;
  const { limit = Infinity } = options;
  if (operation.files.length > 0) {
    const format = options.format ?? (json && options.out === undefined ? 'json' : 'csv');
    const hasFormat = operation.query?.shape['format'] !== undefined;
    return downloadFile(context, path, hasFormat ? { ...query, format } : query, options.out);
  }
  if (operation.isList) return printItems(context, operation, client.list(path, query, limit), answer);
  if (form.items !== undefined)
    return printItems(
      context,
      operation,
      client.listField(path, form.items, query, limit),
      findItem(answer, form.items),
    );
  const method = operation.method.toUpperCase() as Uppercase<OperationDescription['method']>;
  const { value } = await client.send<object | undefined>(method, path, { query, ...(body && { body }), ifMatch });
  if (Array.isArray(value)) {
    const item = (answer as z.ZodArray | undefined)?.element as z.ZodType | undefined;
    return printItems(context, operation, value as object[], item);
  }
  if (form.warning !== undefined && !json && isJsonObject(value) && value[form.warning.if] !== undefined)
    print(fillSentence(form.warning.sentence, names, value));
  if (form.done !== undefined && !json) print(fillSentence(form.done, { ...names, ...toTexts(body) }, value));
  else if (value !== undefined) printObject(context, operation, value);
  else if (!json) print('Done.');
  if (form.hint !== undefined && !json) hint(fillSentence(form.hint, names, value).trim());
}

function toTexts(body: OperationInput['body'] = {}): Record<string, string> {
  return Object.fromEntries(
    Object.entries(body).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  );
}

/** The property in which commander keeps the value of an option: `newMembersLimit` for `new-members-limit`. */
function toAttribute(flag: string): string {
  return flag.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}
